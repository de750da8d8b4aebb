"""The outermost wrapper: a correlation id for each answer, and a clean problem for whatever goes wrong inside."""

import re
import time
from collections.abc import Callable, Mapping
from typing import Final

from attrs import define, field, frozen
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator_domain.errors import NotFound, OrchestratorError
from orchestrator_domain.identifiers import CorrelationId
from orchestrator_http.call import UUID_FORM
from orchestrator_http.correlation import HEADER, correlation_id
from orchestrator_http.problem import UNEXPECTED, is_told, problem_response
from orchestrator_http.refusals import ClientGone

_SCOPE_KEY: Final = "orchestrator.correlation_id"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_AFTER_FINDING: Final = frozenset({409, 412, 422})
"""Statuses of refusals that speak of the very thing that the path names."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@frozen(kw_only=True)
class Answered:
    """One answered request, told without anything that the client chose, but for a correlation id that is safe.

    `route` is the template of the path, None where no route matched; `method` is OTHER for an unknown one; `code` is that
    of the problem that was told. `ids` are the path's, named as its template does, once they were found to be of something.
    """

    method: str
    route: str | None
    status: int
    seconds: float
    correlation_id: CorrelationId
    code: str | None = None
    ids: Mapping[str, str] = field(factory=dict)


type OnBegun = Callable[[CorrelationId], None]
type OnUnexpected = Callable[[Exception, CorrelationId], None]
type OnAnswered = Callable[[Answered], None]


@frozen(kw_only=True)
class ProblemBoundary:
    """Let no exception and no exception's text out.

    Promises: what has a row in the problem table is answered so; anything else is a 500 whose text is always the same,
    told to `on_unexpected` and never raised again. Every answer carries X-Correlation-Id. `on_begun` is called first, in
    the context in which everything else of the request happens.
    """

    inner: ASGIApp
    fresh_id: Callable[[], str]
    on_unexpected: OnUnexpected
    on_answered: OnAnswered
    on_begun: OnBegun = lambda _correlation: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._answer(scope, receive, send)
            case "lifespan":
                await _live(receive, send)
            case _:
                await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started_at = time.monotonic()
        correlation = correlation_id(scope["headers"], fresh=self.fresh_id)
        scope[_SCOPE_KEY] = correlation
        self.on_begun(correlation)
        answer = _Answer(send=send, correlation=correlation)
        try:
            await self._inside(scope, receive, answer)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - the last place that can keep its text from the client and the server's log
            await self._fail(error, scope, receive, answer)
        if answer.status is not None:
            self.on_answered(
                Answered(
                    method=scope["method"] if scope["method"] in _METHODS else "OTHER",
                    route=getattr(scope.get("endpoint"), "path", None),
                    status=answer.status,
                    seconds=time.monotonic() - started_at,
                    correlation_id=correlation,
                    code=answer.code,
                    ids=_found_ids(scope, answer.status),
                )
            )

    async def _inside(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        # A path pattern's end also matches before a trailing line feed.
        if _CONTROL.search(scope["path"]):
            raise NotFound("There is no such path.")
        await self.inner(scope, receive, answer.pass_on)

    async def _fail(self, error: Exception, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        told = error if isinstance(error, OrchestratorError) and is_told(error) else None
        if told is None or answer.status is not None:
            self.on_unexpected(error, answer.correlation)
        if answer.status is None:
            answer.code = (told or UNEXPECTED).code
            await self._problem(told or UNEXPECTED, answer.correlation)(scope, receive, answer.pass_on)

    def _problem(self, error: OrchestratorError, correlation: CorrelationId) -> Response:
        try:
            return problem_response(error, correlation)
        except Exception as defect:  # noqa: BLE001 - an error that can't be written must not let the server's own answer out
            self.on_unexpected(defect, correlation)
            return problem_response(UNEXPECTED, correlation)


@define
class _Answer:
    """The answer on its way out, and whether it has begun."""

    send: Send
    correlation: CorrelationId
    status: int | None = field(default=None, init=False)
    code: str | None = field(default=None, init=False)

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            line = (HEADER, self.correlation.encode("ascii"))
            message = {**message, "headers": [*message.get("headers", ()), line]}
        await self.send(message)


def _found_ids(scope: Scope, status: int) -> Mapping[str, str]:
    """Return the ids in the path, unless nothing was found by them: then they are merely what somebody wrote there."""
    if status >= 400 and status not in _AFTER_FINDING:
        return {}
    given: Mapping[str, str] = scope.get("path_params", {})
    return {name: text for name, text in given.items() if UUID_FORM.fullmatch(text)}


def correlation_of(scope: Scope) -> CorrelationId:
    """Return the id that the boundary gave to this request."""
    correlation: CorrelationId = scope[_SCOPE_KEY]
    return correlation


async def _live(receive: Receive, send: Send) -> None:
    """Answer the server's lifespan: there is nothing to start or stop here."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
