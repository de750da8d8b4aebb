"""The worker: a queue on PostgreSQL, runs, and the handlers that call providers."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from attrs import frozen
from structlog.stdlib import get_logger

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.lease_renewal import LeaseRenewal as PostgresLeaseRenewal
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_service.assembly.observed import CallsCounted, MeasuredClaims, RunsInContext, read_worker
from orchestrator_service.assembly.parts import Parts
from orchestrator_service.scrape import WorkerReading
from orchestrator_worker.handlers import HandlerRegistry
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.late_provider_client import LateProviderClient
from orchestrator_worker.observed_calls import ObservedCalls
from orchestrator_worker.register_document import RegisterDocument
from orchestrator_worker.renewal import LeaseRenewal
from orchestrator_worker.tracing import TracedCalls, TracedRuns, traced_attempts
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings, unique_owner


@frozen(kw_only=True)
class Working:
    """A worker, and how it stands when somebody asks."""

    worker: Worker
    read: Callable[[], WorkerReading]


async def opened_worker(parts: Parts, opened: AsyncExitStack) -> Working:
    settings = _worker_settings(parts)
    queue = await opened.enter_async_context(
        PostgresExecutionQueue(parts.connection, parts.identifiers, unreadable=_unreadable)
    )
    client = await opened.enter_async_context(LateProviderClient(values=parts.values))
    calls = HeldCalls(TracedCalls(client, parts.tracer))
    registry = _registry(parts, calls)
    opened.callback(registry.close)
    worker = Worker(
        settings=settings,
        queue=MeasuredClaims(queue, parts.metrics),
        runner=RunsInContext(TracedRuns(_runner(parts, queue, registry), parts.tracer)),
        renewal=LeaseRenewal(
            open_renewer=lambda: _renewer(parts.connection),
            lease_seconds=settings.lease_seconds,
            renew_seconds=settings.renew_seconds,
            observer=parts.observer,
            fraction=parts.identifiers.fraction,
        ),
        wakeup=parts.wakeup,
        observer=parts.observer,
        fraction=parts.identifiers.fraction,
    )
    return Working(worker=worker, read=partial(read_worker, parts, worker, calls))


def _worker_settings(parts: Parts) -> WorkerSettings:
    worker = parts.settings.worker
    return WorkerSettings(
        owner=unique_owner(host=socket.gethostname(), process_id=os.getpid(), salt=parts.identifiers.salt()),
        concurrency=worker.concurrency,
        batch_max=worker.batch,
        poll_ms=worker.poll_ms,
        lease_seconds=worker.lease_seconds,
        renew_seconds=worker.renew_seconds,
        drain_seconds=worker.drain_seconds,
    )


def _registry(parts: Parts, held: HeldCalls) -> HandlerRegistry:
    calls = ObservedCalls(calls=held, told=CallsCounted(parts.metrics))
    return HandlerRegistry(
        [
            InvokeIntegration(
                route_for=parts.catalogue.route_for, client=calls, now=_now, kept_away=held.kept_away
            ),
            RegisterDocument(service=parts.catalogue.document_service, client=calls, now=_now),
        ],
        observer=parts.observer,
        threads_max=parts.settings.worker.concurrency,
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _runner(parts: Parts, queue: PostgresExecutionQueue, registry: HandlerRegistry) -> ExecutionRunner:
    return ExecutionRunner(
        queue=queue,
        flows=parts.flows,
        published_flows=PostgresPublishedFlows(parts.engine),
        catalogue=parts.catalogue,
        attempt=traced_attempts(registry.attempt, parts.tracer),
        held=registry.held,
        probe=registry.probe,
        evaluator=CompiledDecisionEvaluator(),
        identifiers=parts.identifiers,
        observer=parts.observer,
        limits=parts.settings.limits,
    )


@asynccontextmanager
async def _renewer(connection: ConnectionSettings) -> AsyncIterator[PostgresLeaseRenewal]:
    """Open a renewal on a connection of its own, in the thread and event loop of whoever asks."""
    renewal = PostgresLeaseRenewal(connection)
    try:
        yield renewal
    finally:
        await asyncio.to_thread(renewal.close)


def _unreadable(execution_id: ExecutionId) -> None:
    get_logger("orchestrator.worker").error("execution_unreadable", executionId=str(execution_id))
