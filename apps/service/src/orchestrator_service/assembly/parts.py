"""What API and worker share, and whether their process is on its way out."""

from attrs import Factory, define, field, frozen
from opentelemetry.trace import Tracer

from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.readiness import unreadiness
from orchestrator_postgres.wakeup import PostgresWakeup
from orchestrator_service.heavy_work import HeavyWork
from orchestrator_service.metrics import Metrics
from orchestrator_service.observation import ObservedByMetricsAndLogs
from orchestrator_service.settings import Settings
from orchestrator_service.system_identifiers import SystemIdentifiers
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue


@define
class Draining:
    """Whether the process is on its way out; readiness says so before the listener closes."""

    begun: bool = False


@frozen(kw_only=True)
class Parts:
    """What API and worker share."""

    settings: Settings
    connection: ConnectionSettings
    engine: PostgresEngine
    catalogue: DeployedCatalogue
    values: DeploymentValues
    wakeup: PostgresWakeup
    heavy_work: HeavyWork
    tracer: Tracer
    metrics: Metrics = field(factory=Metrics)
    identifiers: SystemIdentifiers = field(factory=SystemIdentifiers)
    flows: FlowLibrary = field(factory=FlowLibrary)
    draining: Draining = field(factory=Draining)
    observer: ObservedByMetricsAndLogs = field(
        default=Factory(lambda parts: ObservedByMetricsAndLogs(parts.metrics), takes_self=True)
    )

    async def unreadiness(self) -> str | None:
        return "it is shutting down" if self.draining.begun else await unreadiness(self.engine)
