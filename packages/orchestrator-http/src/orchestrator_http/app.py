"""The ASGI application: the routes inside, the problem boundary around them."""

from collections import defaultdict
from collections.abc import Iterator

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator_domain.errors import NotFound
from orchestrator_http.problem_boundary import ProblemBoundary
from orchestrator_http.routes import route_table
from orchestrator_http.routing import PathEndpoint, RouteEntry
from orchestrator_http.services import HttpServices, HttpSettings
from orchestrator_http.tracing import TracedRequests


def build_app(services: HttpServices, settings: HttpSettings) -> ASGIApp:
    """Return the application for a production ASGI server.

    It holds no state of its own, starts nothing and stops nothing: what the services need is the assembly's to open
    and to close.
    """
    router = Router(routes=list(_routes(services, settings)), redirect_slashes=False, default=_no_such_path)
    boundary = ProblemBoundary(
        inner=router,
        fresh_id=lambda: str(services.identifiers.uuid()),
        on_unexpected=services.on_unexpected,
        on_answered=services.on_answered,
        on_begun=services.on_begun,
    )
    return TracedRequests(inner=boundary, tracer=services.tracer)


def _routes(services: HttpServices, settings: HttpSettings) -> Iterator[Route]:
    by_path: defaultdict[str, dict[str, RouteEntry]] = defaultdict(dict)
    for entry in route_table(services, settings):
        by_path[entry.path][entry.method] = entry
    for path, entries in by_path.items():
        endpoint = PathEndpoint(
            path=path,
            entries=entries,
            authenticate=services.authenticate,
            body_seconds_max=settings.body_seconds_max,
        )
        yield Route(path, endpoint)


async def _no_such_path(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise NotFound("There is no such path.")
