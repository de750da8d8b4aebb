"""Answering one path: the method, who calls, the limit of the body, and then the handler."""

from collections.abc import Awaitable, Callable, Mapping

from attrs import frozen
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from orchestrator_domain.actor import Actor
from orchestrator_http.body_limit import BodyLimit, bounded_body
from orchestrator_http.call import Call
from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.problem_boundary import correlation_of
from orchestrator_http.refusals import MethodNotAllowed

type Authenticate = Callable[[str | None], Awaitable[Actor]]


@frozen(kw_only=True)
class PublicRoute:
    """A route that anybody may call, and that reads nothing of the request."""

    method: str
    path: str
    handler: Callable[[], Awaitable[Response]]


@frozen(kw_only=True)
class DocumentRoute:
    """A route that anybody may read, whose handler gets the names in the path and nothing else of the request."""

    method: str
    path: str
    handler: Callable[[Mapping[str, str]], Awaitable[Response]]


@frozen(kw_only=True)
class GuardedRoute:
    """A route whose handler runs only for an authenticated actor."""

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Response]]
    body_bytes_max: int = 0


type RouteEntry = PublicRoute | DocumentRoute | GuardedRoute


@frozen(kw_only=True)
class PathEndpoint:
    """All methods of one path, as an ASGI application. `path` is the template that metrics may be labelled with."""

    path: str
    entries: Mapping[str, RouteEntry]
    authenticate: Authenticate
    body_seconds_max: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = HeaderLines(scope["headers"])
        headers.refuse_oversized()
        headers.refuse_ambiguous()
        response = await self._response(scope, receive, headers)
        await response(scope, receive, _without_body(send) if scope["method"] == "HEAD" else send)

    async def _response(self, scope: Scope, receive: Receive, headers: HeaderLines) -> Response:
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers={"Allow": ", ".join(self._allowed())})
        entry = self.entries.get("GET" if scope["method"] == "HEAD" else scope["method"])
        match entry:
            case PublicRoute():
                return await entry.handler()
            case DocumentRoute():
                return await entry.handler(scope["path_params"])
            case GuardedRoute():
                return await entry.handler(await self._call(entry, scope, receive, headers))
            case None:
                allowed = self._allowed()
                raise MethodNotAllowed(f"This resource takes {', '.join(allowed)}.", allowed=allowed)

    async def _call(self, entry: GuardedRoute, scope: Scope, receive: Receive, headers: HeaderLines) -> Call:
        limit = BodyLimit(bytes_max=entry.body_bytes_max, seconds_max=self.body_seconds_max)
        return Call(
            actor=await self.authenticate(headers.one("Authorization")),
            correlation_id=correlation_of(scope),
            headers=headers,
            path_parameters=scope["path_params"],
            read_body=lambda: bounded_body(receive, headers, limit),
            query_string=scope.get("query_string", b""),
        )

    def _allowed(self) -> tuple[str, ...]:
        more = {"HEAD", "OPTIONS"} if "GET" in self.entries else {"OPTIONS"}
        return tuple(sorted(self.entries.keys() | more))


def _without_body(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head
