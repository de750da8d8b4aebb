"""One process as a whole: what it checks before it starts, opens, runs and closes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from attrs import frozen
from opentelemetry.trace import TracerProvider
from starlette.types import ASGIApp
from structlog.stdlib import get_logger

from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.flows_in_use import flows_in_use
from orchestrator_postgres.start_check import awaited_start_faults
from orchestrator_postgres.wakeup import PostgresWakeup
from orchestrator_service.assembly.api import api_app, authentication_by, management_app
from orchestrator_service.assembly.catalogue import deployed_catalogue
from orchestrator_service.assembly.observed import scrape_of
from orchestrator_service.assembly.parts import Draining, Parts
from orchestrator_service.assembly.worker import opened_worker
from orchestrator_service.heavy_work import HeavyWork
from orchestrator_service.pinned_contracts import contract_faults
from orchestrator_service.settings import Settings
from orchestrator_service.start_refused import StartRefused
from orchestrator_service.tracing import SCOPE_NAME, opened_tracer_provider
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.worker import Worker


@frozen(kw_only=True)
class Service:
    """What one process runs. `api` is None unless a group of routes is on, `worker` None unless it is enabled."""

    api: ASGIApp | None
    management: ASGIApp
    worker: Worker | None
    draining: Draining


@asynccontextmanager
async def assembled(
    settings: Settings, variables: Mapping[str, str], *, traces: TracerProvider | None = None
) -> AsyncIterator[Service]:
    """Open everything that the settings ask for and close it again in order.

    Spans go to `traces`, if a host has its own, else where the settings say.

    Raises SettingsInvalid (a catalogue or an issuer that can't be used) or StartRefused (schema, role, contracts of
    published flows that mean something else by now), with every fault at once. Raises DatabaseUnreachable once the
    settings' time to wait for a database is over.
    """
    values = DeploymentValues(environment=variables)
    catalogue = deployed_catalogue(settings, values)
    authentication = authentication_by(settings)
    connection = ConnectionSettings(url=settings.database_url)
    faults = await awaited_start_faults(
        connection, wait_seconds=settings.database_wait_seconds, waiting=_waiting_for_the_database
    )
    if not faults:
        faults = contract_faults(await flows_in_use(connection), catalogue.named_by)
    if faults:
        raise StartRefused(faults)
    async with AsyncExitStack() as opened:
        heavy_work = HeavyWork()
        opened.callback(heavy_work.close)
        spans = traces or await opened_tracer_provider(settings.traces_endpoint, opened)
        parts = Parts(
            settings=settings,
            connection=connection,
            engine=await opened.enter_async_context(
                PostgresEngine(connection, connections_max=settings.database_pool)
            ),
            catalogue=catalogue,
            values=values,
            wakeup=await opened.enter_async_context(
                PostgresWakeup(connection, listens=settings.worker.enabled, disturbed=_disturbed_wakeup)
            ),
            heavy_work=heavy_work,
            tracer=spans.get_tracer(SCOPE_NAME),
        )
        working = await opened_worker(parts, opened) if settings.worker.enabled else None
        yield Service(
            api=None if authentication is None else api_app(parts, authentication),
            management=management_app(parts, scrape_of(parts, None if working is None else working.read)),
            worker=None if working is None else working.worker,
            draining=parts.draining,
        )


def _waiting_for_the_database(reason: str) -> None:
    get_logger("orchestrator").warning("waiting_for_the_database", reason=reason)


def _disturbed_wakeup(kind: str) -> None:
    get_logger("orchestrator.wakeup").warning("wakeup_disturbed", kind=kind)
