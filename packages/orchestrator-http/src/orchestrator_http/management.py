"""The management application, on a port of its own: health and metrics, for supervisors inside the network."""

from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import NotFound
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_http.health import HealthHandlers, ReadinessProbe
from orchestrator_http.problem_boundary import OnUnexpected, ProblemBoundary
from orchestrator_http.routing import PathEndpoint, PublicRoute

_EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def build_management_app(
    *,
    readiness: ReadinessProbe,
    exposition: Callable[[], Awaitable[bytes]],
    identifiers: Identifiers,
    on_unexpected: OnUnexpected,
) -> ASGIApp:
    """Return the application; `exposition` gives the metrics in Prometheus' text format."""
    health = HealthHandlers(readiness=readiness)

    async def metrics() -> Response:
        return Response(await exposition(), media_type=_EXPOSITION_TYPE)

    routes = (
        PublicRoute(method="GET", path="/health/live", handler=health.live),
        PublicRoute(method="GET", path="/health/ready", handler=health.ready),
        PublicRoute(method="GET", path="/metrics", handler=metrics),
    )
    return ProblemBoundary(
        inner=Router(
            routes=[_routed(route) for route in routes], redirect_slashes=False, default=_no_such_path
        ),
        fresh_id=lambda: str(identifiers.uuid()),
        on_unexpected=on_unexpected,
        on_answered=lambda _answered: None,
    )


def _routed(route: PublicRoute) -> Route:
    endpoint = PathEndpoint(
        path=route.path, entries={route.method: route}, authenticate=_nobody, body_seconds_max=1.0
    )
    return Route(route.path, endpoint)


async def _nobody(_authorization: str | None) -> Actor:
    raise NotFound("There is no such path.")


async def _no_such_path(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise NotFound("There is no such path.")
