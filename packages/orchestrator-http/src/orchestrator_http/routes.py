"""The table of paths."""

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from orchestrator_http.addresses import BASE_PATH
from orchestrator_http.available_events import AvailableEventHandlers
from orchestrator_http.call import Call
from orchestrator_http.conditional_read import ConditionalReads
from orchestrator_http.documentation import DocumentationHandlers
from orchestrator_http.events import EventHandlers
from orchestrator_http.executions import ExecutionHandlers
from orchestrator_http.flows import FlowHandlers
from orchestrator_http.health import HealthHandlers
from orchestrator_http.history import HistoryHandlers
from orchestrator_http.impacts import BODY_BYTES_MAX as IMPACT_BODY_BYTES_MAX
from orchestrator_http.impacts import ImpactHandlers
from orchestrator_http.request_types import RequestTypeHandlers
from orchestrator_http.requests import RequestHandlers
from orchestrator_http.resolutions import ResolutionHandlers
from orchestrator_http.routing import DocumentRoute, GuardedRoute, PublicRoute, RouteEntry
from orchestrator_http.services import HttpServices, HttpSettings
from orchestrator_http.simulations import SimulationHandlers


def route_table(services: HttpServices, settings: HttpSettings) -> tuple[RouteEntry, ...]:
    """Return every route that the settings switch on; a group that is off doesn't exist (404)."""
    table: tuple[RouteEntry, ...] = _health_routes(services)
    if settings.request_api_enabled:
        table += _request_routes(services, settings.request_body_bytes_max)
    if settings.flow_admin_enabled:
        table += _flow_routes(services, settings.flow_body_bytes_max)
    if settings.api_docs_enabled:
        table += _document_routes()
    return table


def _health_routes(services: HttpServices) -> tuple[RouteEntry, ...]:
    health = HealthHandlers(readiness=services.readiness)
    return (
        PublicRoute(method="GET", path="/health/live", handler=health.live),
        PublicRoute(method="GET", path="/health/ready", handler=health.ready),
    )


def _request_routes(services: HttpServices, bytes_max: int) -> tuple[RouteEntry, ...]:
    reads = ConditionalReads(poll=services.change_poll)
    requests = RequestHandlers(
        create_request=services.create_request, read_request=services.read_request, conditional_reads=reads
    )
    events = EventHandlers(accept_event=services.accept_event, tracer=services.tracer)
    executions = ExecutionHandlers(read_request=services.read_request, conditional_reads=reads)
    resolutions = ResolutionHandlers(
        stopped_executions=services.stopped_executions,
        resolve_execution=services.resolve_execution,
        cursors=services.cursors,
    )
    available = AvailableEventHandlers(list_available_events=services.list_available_events)
    history = HistoryHandlers(read_history=services.read_history, cursors=services.cursors)
    return (
        _writing("POST", "/requests", requests.create, bytes_max),
        _reading("/requests/{requestId}", requests.show),
        _reading("/requests/{requestId}/available-events", available.show),
        _reading("/requests/{requestId}/history", history.show),
        _writing("POST", "/requests/{requestId}/events", events.accept, bytes_max),
        _reading("/executions/{executionId}", executions.show),
        _reading("/admin/executions", resolutions.list),
        _reading("/admin/executions/{executionId}", resolutions.show),
        _writing("POST", "/admin/executions/{executionId}/resolve", resolutions.resolve, bytes_max),
    )


def _flow_routes(services: HttpServices, bytes_max: int) -> tuple[RouteEntry, ...]:
    flows = FlowHandlers(author_flow=services.author_flow, cursors=services.cursors)
    simulations = SimulationHandlers(simulate_flow=services.simulate_flow)
    impacts = ImpactHandlers(assess_impact=services.assess_impact)
    types = RequestTypeHandlers(activate_flow=services.activate_flow, cursors=services.cursors)
    return (
        _reading("/admin/flows", flows.list),
        _writing("POST", "/admin/flows", flows.create, bytes_max),
        _reading("/admin/flows/{flowId}", flows.show),
        _writing("PUT", "/admin/flows/{flowId}", flows.edit, bytes_max),
        _writing("POST", "/admin/flows/{flowId}/validate", flows.validate, bytes_max),
        _writing("POST", "/admin/flows/{flowId}/simulate", simulations.simulate, bytes_max),
        _writing("POST", "/admin/flows/{flowId}/impact", impacts.assess, IMPACT_BODY_BYTES_MAX),
        _writing("POST", "/admin/flows/{flowId}/publish", flows.publish, bytes_max),
        _writing("POST", "/admin/flows/{flowId}/retire", flows.retire, bytes_max),
        _reading("/admin/request-types", types.list),
        _reading("/admin/request-types/{typeKey}", types.show),
        _writing("PUT", "/admin/request-types/{typeKey}/active-flow", types.activate, bytes_max),
        _writing("PUT", "/admin/request-types/{typeKey}/enabled", types.switch, bytes_max),
    )


def _document_routes() -> tuple[RouteEntry, ...]:
    documents = DocumentationHandlers()
    return (
        DocumentRoute(method="GET", path="/docs", handler=documents.page),
        DocumentRoute(method="GET", path="/docs/contract.js", handler=documents.script),
        DocumentRoute(method="GET", path="/openapi.json", handler=documents.contract_as_json),
        DocumentRoute(method="GET", path="/openapi.yaml", handler=documents.contract_as_yaml),
        DocumentRoute(method="GET", path="/problems/{code}", handler=documents.problem),
    )


type _Handler = Callable[[Call], Awaitable[Response]]


def _reading(path: str, handler: _Handler) -> GuardedRoute:
    return GuardedRoute(method="GET", path=BASE_PATH + path, handler=handler)


def _writing(method: str, path: str, handler: _Handler, bytes_max: int) -> GuardedRoute:
    return GuardedRoute(method=method, path=BASE_PATH + path, handler=handler, body_bytes_max=bytes_max)
