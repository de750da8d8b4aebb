"""The composition root: plain constructor calls, and the one room that sees all three adapters."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from attrs import define, evolve, field, frozen
from starlette.types import ASGIApp
from structlog.stdlib import get_logger

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import CorrelationId, ExecutionId, Role
from orchestrator_domain.simulation.no_op import with_no_op
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.list_available_events import ListAvailableEvents
from orchestrator_domain.usecases.read_history import ReadHistory
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_domain.usecases.simulate_flow import SimulateFlow
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions
from orchestrator_http.app import build_app
from orchestrator_http.authentication import Authentication
from orchestrator_http.change_poll import ChangePoll
from orchestrator_http.cursors import Cursors
from orchestrator_http.management import build_management_app
from orchestrator_http.services import HttpServices, HttpSettings
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_postgres.change_marks import PostgresChangeMarks
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.flows_in_use import flows_in_use
from orchestrator_postgres.lease_renewal import LeaseRenewal as PostgresLeaseRenewal
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.readiness import unreadiness
from orchestrator_postgres.start_check import start_faults
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_postgres.wakeup import PostgresWakeup
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.metrics import Metrics, ObservedByMetricsAndLogs
from orchestrator_service.pinned_contracts import contract_faults
from orchestrator_service.settings import Settings
from orchestrator_service.start_refused import StartRefused
from orchestrator_service.system_identifiers import SystemIdentifiers
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueFault, CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.handlers import HandlerRegistry
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.register_document import RegisterDocument
from orchestrator_worker.renewal import LeaseRenewal
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings, unique_owner


@define
class Draining:
    """Whether the process is on its way out; readiness says so before the listener closes."""

    begun: bool = False


@frozen(kw_only=True)
class Service:
    """What one process runs. `api` is None unless a group of routes is on, `worker` None unless it is enabled."""

    api: ASGIApp | None
    management: ASGIApp
    worker: Worker | None
    draining: Draining


@frozen(kw_only=True)
class _Parts:
    """What API and worker share."""

    settings: Settings
    connection: ConnectionSettings
    engine: PostgresEngine
    catalogue: DeployedCatalogue
    values: DeploymentValues
    wakeup: PostgresWakeup
    metrics: Metrics = field(factory=Metrics)
    identifiers: SystemIdentifiers = field(factory=SystemIdentifiers)
    flows: FlowLibrary = field(factory=FlowLibrary)
    draining: Draining = field(factory=Draining)

    @property
    def observer(self) -> ObservedByMetricsAndLogs:
        return ObservedByMetricsAndLogs(self.metrics)

    async def unreadiness(self) -> str | None:
        return "it is shutting down" if self.draining.begun else await unreadiness(self.engine)


@asynccontextmanager
async def assembled(settings: Settings, variables: Mapping[str, str]) -> AsyncIterator[Service]:
    """Open everything that the settings ask for and close it again in order.

    Raises SettingsInvalid (a catalogue or an issuer that can't be used) or StartRefused (schema, role, contracts of
    published flows that mean something else by now), with every fault at once.
    """
    values = DeploymentValues(environment=variables)
    catalogue = _catalogue(settings, values)
    authentication = _authentication(settings)
    connection = ConnectionSettings(url=settings.database_url)
    faults = await start_faults(connection)
    if not faults:
        faults = contract_faults(await flows_in_use(connection), catalogue.named_by)
    if faults:
        raise StartRefused(faults)
    async with AsyncExitStack() as opened:
        parts = _Parts(
            settings=settings,
            connection=connection,
            engine=await opened.enter_async_context(
                PostgresEngine(connection, connections_max=settings.database_pool)
            ),
            catalogue=catalogue,
            values=values,
            wakeup=await opened.enter_async_context(
                PostgresWakeup(connection, listens=settings.worker.enabled)
            ),
        )
        yield Service(
            api=None if authentication is None else _api(parts, authentication),
            management=_management(parts),
            worker=await _worker(parts, opened) if settings.worker.enabled else None,
            draining=parts.draining,
        )


def _catalogue(settings: Settings, values: DeploymentValues) -> DeployedCatalogue:
    if settings.catalogue_file is None:
        return DeployedCatalogue()
    try:
        document = read_catalogue(settings.catalogue_file.read_bytes(), values=values)
    except CatalogueInvalid as invalid:
        raise _catalogue_faults(invalid.faults) from None
    catalogue = DeployedCatalogue(document=document)
    faults = catalogue.check_against_lease(settings.worker.lease_seconds)
    if faults:
        raise _catalogue_faults(faults)
    return catalogue


def _catalogue_faults(faults: Sequence[CatalogueFault]) -> SettingsInvalid:
    return SettingsInvalid(
        tuple(
            f"INTEGRATION_CATALOGUE at {fault.pointer or '/'}: {fault.message} ({fault.code})"
            for fault in faults
        )
    )


def _authentication(settings: Settings) -> Authentication | None:
    if not settings.serves_api:
        return None
    log = get_logger("orchestrator.authentication")
    try:
        # The names were checked when the setting was read; the values are TrustedIssuer's to judge.
        issuers = [TrustedIssuer(**arguments) for arguments in settings.issuers]  # type: ignore[arg-type]
        return Authentication.by(
            issuers,
            report=lambda issuer, reason: log.warning(
                "issuer_keys_unavailable", issuer=issuer.issuer, reason=reason
            ),
        )
    except ValueError as fault:
        raise SettingsInvalid((f"AUTH_ISSUERS: {fault}",)) from None


def _api(parts: _Parts, authentication: Authentication) -> ASGIApp:
    return build_app(_http_services(parts, authentication), _http_settings(parts.settings))


def _http_settings(settings: Settings) -> HttpSettings:
    return HttpSettings(
        request_api_enabled=settings.request_api_enabled,
        flow_admin_enabled=settings.flow_admin_enabled,
        api_docs_enabled=settings.api_docs_enabled,
        request_body_bytes_max=settings.request_body_bytes_max,
        flow_body_bytes_max=settings.flow_body_bytes_max,
    )


def _http_services(parts: _Parts, authentication: Authentication) -> HttpServices:
    unit_of_work = PostgresUnitOfWork(parts.engine)
    validator = FlowSoundness(
        resolve_contract=parts.catalogue.current,
        known_roles=frozenset(map(Role, parts.settings.business_roles)) or None,
        limits=parts.settings.limits,
    )
    stopped = StoppedExecutions(unit_of_work=unit_of_work, flows=parts.flows, catalogue=parts.catalogue)
    return HttpServices(
        authenticate=authentication,
        create_request=CreateRequest(
            unit_of_work=unit_of_work,
            flows=parts.flows,
            identifiers=parts.identifiers,
            limits=parts.settings.limits,
        ),
        accept_event=AcceptEvent(
            unit_of_work=unit_of_work,
            flows=parts.flows,
            identifiers=parts.identifiers,
            wakeup=parts.wakeup,
            observer=parts.observer,
        ),
        read_request=ReadRequest(unit_of_work=unit_of_work, flows=parts.flows),
        list_available_events=ListAvailableEvents(unit_of_work=unit_of_work, flows=parts.flows),
        read_history=ReadHistory(unit_of_work=unit_of_work),
        stopped_executions=stopped,
        resolve_execution=ResolveExecution(
            unit_of_work=unit_of_work, stopped=stopped, identifiers=parts.identifiers, wakeup=parts.wakeup
        ),
        author_flow=AuthorFlow(
            unit_of_work=unit_of_work,
            validator=validator,
            catalogue=parts.catalogue,
            identifiers=parts.identifiers,
        ),
        activate_flow=ActivateFlow(unit_of_work=unit_of_work),
        simulate_flow=SimulateFlow(
            unit_of_work=unit_of_work,
            validator=evolve(validator, resolve_contract=with_no_op(parts.catalogue.current)),
            catalogue=parts.catalogue,
            evaluator=CompiledDecisionEvaluator(),
            limits=parts.settings.limits,
        ),
        identifiers=parts.identifiers,
        readiness=parts.unreadiness,
        change_poll=ChangePoll(
            marks=PostgresChangeMarks(parts.engine), draining=lambda: parts.draining.begun
        ),
        cursors=Cursors(secrets=parts.settings.cursor_secrets),
        on_unexpected=_told_to_the_log,
    )


def _management(parts: _Parts) -> ASGIApp:
    return build_management_app(
        readiness=parts.unreadiness,
        exposition=parts.metrics.exposition,
        identifiers=parts.identifiers,
        on_unexpected=_told_to_the_log,
    )


def _told_to_the_log(exception: Exception, correlation_id: CorrelationId) -> None:
    get_logger("orchestrator.http").error("unexpected", correlationId=correlation_id, exc_info=exception)


async def _worker(parts: _Parts, opened: AsyncExitStack) -> Worker:
    settings = _worker_settings(parts)
    queue = await opened.enter_async_context(
        PostgresExecutionQueue(parts.connection, parts.identifiers, unreadable=_unreadable)
    )
    client = await opened.enter_async_context(ProviderClient(values=parts.values))
    registry = _registry(parts, client)
    opened.callback(registry.close)
    return Worker(
        settings=settings,
        queue=queue,
        runner=_runner(parts, queue, registry),
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


def _worker_settings(parts: _Parts) -> WorkerSettings:
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


def _registry(parts: _Parts, client: ProviderClient) -> HandlerRegistry:
    calls = HeldCalls(client)
    return HandlerRegistry(
        [
            InvokeIntegration(route_for=parts.catalogue.route_for, client=calls, now=_now),
            RegisterDocument(service=parts.catalogue.document_service, client=calls, now=_now),
        ],
        observer=parts.observer,
        threads_max=parts.settings.worker.concurrency,
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _runner(parts: _Parts, queue: PostgresExecutionQueue, registry: HandlerRegistry) -> ExecutionRunner:
    return ExecutionRunner(
        queue=queue,
        flows=parts.flows,
        published_flows=PostgresPublishedFlows(parts.engine),
        catalogue=parts.catalogue,
        attempt=registry.attempt,
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
