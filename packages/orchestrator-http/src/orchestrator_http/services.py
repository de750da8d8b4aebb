"""What the HTTP interface is given: the use cases it offers, and how much it takes."""

from attrs import field, frozen, validators
from opentelemetry.trace import NoOpTracer, Tracer

from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_domain.usecases.assess_impact import AssessImpact
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.list_available_events import ListAvailableEvents
from orchestrator_domain.usecases.read_history import ReadHistory
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.simulate_flow import SimulateFlow
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions
from orchestrator_http.change_poll import ChangePoll
from orchestrator_http.cursors import Cursors
from orchestrator_http.health import ReadinessProbe
from orchestrator_http.problem_boundary import OnAnswered, OnBegun, OnUnexpected
from orchestrator_http.routing import Authenticate


@frozen(kw_only=True)
class HttpServices:
    """Everything that handlers call. What begins with `on_` returns at once and raises nothing."""

    authenticate: Authenticate
    create_request: CreateRequest
    accept_event: AcceptEvent
    read_request: ReadRequest
    list_available_events: ListAvailableEvents
    read_history: ReadHistory
    stopped_executions: StoppedExecutions
    resolve_execution: ResolveExecution
    author_flow: AuthorFlow
    activate_flow: ActivateFlow
    simulate_flow: SimulateFlow
    assess_impact: AssessImpact
    identifiers: Identifiers
    readiness: ReadinessProbe
    cursors: Cursors
    change_poll: ChangePoll
    on_unexpected: OnUnexpected
    on_answered: OnAnswered = lambda _answered: None
    on_begun: OnBegun = lambda _correlation: None
    tracer: Tracer = field(factory=NoOpTracer)


@frozen(kw_only=True)
class HttpSettings:
    """Which groups of routes exist, and the bounds of bodies.

    The limit for a flow leaves room for a definition of 1 MiB, that for requests for data of 256 KiB and what is
    around it; how large either may be in canonical form is the use cases' to say.
    """

    request_api_enabled: bool = False
    flow_admin_enabled: bool = False
    api_docs_enabled: bool = False
    request_body_bytes_max: int = field(default=320 * 1024, validator=validators.ge(1))
    flow_body_bytes_max: int = field(default=1280 * 1024, validator=validators.ge(1))
    body_seconds_max: float = field(default=30.0, validator=validators.gt(0))
