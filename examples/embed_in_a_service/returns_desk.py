"""A small web service with tables of its own, in which the domain decides.

The flow's transitions call nothing, so an event is accepted, decided and stored in one transaction of the service's
own database: `decide_acceptance` says whether, `next_step` and `finished_transition` say what becomes of it. A service
whose flows call providers stores checkpoints in between, which is what the durable queue of the domain is for.

    uvicorn returns_desk:app
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast
from uuid import UUID, uuid4

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from orchestrator_domain import (
    Accepted,
    AcceptEventCommand,
    Actor,
    CompiledDecisionEvaluator,
    Completion,
    FinishTransition,
    FlowLimits,
    FlowReference,
    InvalidInput,
    OrchestratorError,
    ReadyFlow,
    Request,
    RevisionIn,
    Run,
    RunFault,
    decide_acceptance,
    dump_json,
    finished_transition,
    next_step,
    parse_json,
    read_flow,
)
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import (
    BusinessScope,
    EventKey,
    ExecutionId,
    FlowId,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Revision,
    Role,
    Sha256Hex,
    StateKey,
    Subject,
)

DOCUMENT = cast("JsonObject", parse_json((Path(__file__).parent / "returns.json").read_bytes()))
FLOW = ReadyFlow(definition=read_flow(DOCUMENT))
REFERENCE = FlowReference(
    id=FlowId(UUID(int=1)),
    key=FLOW.definition.flow_key,
    version=FLOW.definition.version,
    checksum=Sha256Hex(sha256_hex(DOCUMENT)),
)
# A real service takes these from a token that it has verified.
INSPECTOR = Actor(subject=Subject("inspector-1"), roles=frozenset({Role("INSPECTOR")}))
EVALUATE = CompiledDecisionEvaluator().evaluate
STATUSES = {"REVISION_MISMATCH": 412, "INVALID_EVENT": 409, "ACCESS_DENIED": 403, "NOT_FOUND": 404}


class Returns:
    """Keep returned articles in a table of the service's own, over one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def create_table(self) -> None:
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS returned"
            " (id TEXT PRIMARY KEY, state TEXT NOT NULL, revision INTEGER NOT NULL, data TEXT NOT NULL)"
        )

    def add(self, returned: Request) -> None:
        self._connection.execute(
            "INSERT INTO returned VALUES (?, ?, ?, ?)",
            (str(returned.id), returned.state, returned.revision, dump_json(returned.data)),
        )

    def find(self, key: UUID) -> Request | None:
        row = self._connection.execute(
            "SELECT state, revision, data FROM returned WHERE id = ?", (str(key),)
        ).fetchone()
        return None if row is None else _returned(key, row[0], row[1], cast("JsonObject", parse_json(row[2])))

    def save(self, returned: Request) -> None:
        self._connection.execute(
            "UPDATE returned SET state = ?, revision = ?, data = ? WHERE id = ?",
            (returned.state, returned.revision, dump_json(returned.data), str(returned.id)),
        )


@contextmanager
def transaction(database: str) -> Iterator[Returns]:
    """Do all that is done within, or nothing; whoever comes meanwhile waits."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield Returns(connection)
        connection.execute("COMMIT")


def _returned(key: UUID, state: str, revision: int, data: JsonObject) -> Request:
    return Request(
        id=RequestId(key),
        type_key=RequestTypeKey("RETURNS"),
        flow=REFERENCE,
        state=StateKey(state),
        data=data,
        owner=INSPECTOR.subject,
        scope=BusinessScope("SHOP"),
        revision=Revision(revision),
    )


def build_app(database: str) -> Starlette:
    """Return the service over the SQLite database at a path."""
    with transaction(database) as returns:
        returns.create_table()

    async def register(request: HttpRequest) -> Response:
        data = await _json_object(request)
        violations = FLOW.creation_violations(data)
        if violations:
            raise InvalidInput(violations[0].message, pointer=violations[0].pointer)
        returned = _returned(uuid4(), FLOW.definition.initial_state, 0, data)
        with transaction(database) as returns:
            returns.add(returned)
        return _answer(201, returned)

    async def inspect(request: HttpRequest) -> Response:
        data = await _json_object(request)
        with transaction(database) as returns:
            returned = returns.find(request.path_params["key"])
            if returned is None:
                return _json(404, {"code": "NOT_FOUND", "message": "There is no such article."})
            inspected = _inspected(returned, data, request.headers.get("If-Match", ""))
            returns.save(inspected)
        return _answer(200, inspected)

    return Starlette(
        routes=[
            Route("/returns", register, methods=["POST"]),
            Route("/returns/{key:uuid}/inspection", inspect, methods=["POST"]),
        ],
        exception_handlers={OrchestratorError: _refused},
    )


def _inspected(returned: Request, data: JsonObject, if_match: str) -> Request:
    command = AcceptEventCommand(
        request_id=returned.id,
        event=EventKey("INSPECT"),
        data=data,
        key=IdempotencyKey(str(uuid4())),
        precondition=RevisionIn(tags=(if_match.strip('"'),)),
    )
    accepted = decide_acceptance(
        command,
        INSPECTOR,
        request=returned,
        flow=FLOW,
        earlier=None,
        active=None,
        execution_id=ExecutionId(uuid4()),
    )
    assert isinstance(accepted, Accepted), "every key is new, so nothing is repeated"
    completion = _completion(accepted)
    return accepted.request.transitioned(state=completion.state, data=completion.data)


def _completion(accepted: Accepted) -> Completion:
    transition = FLOW.definition.transition(accepted.execution.transition)
    assert transition is not None, "acceptance took the transition from this very flow"
    run = Run(
        execution=accepted.execution,
        request_data=accepted.request.data,
        transition=transition,
        contracts={},
        checkpoints={},
    )
    step = next_step(run)
    assert isinstance(step, FinishTransition), "a transition without actions is finished at once"
    finished = finished_transition(
        flow=FLOW,
        transition=transition,
        context=step.context,
        results=step.results,
        contracts={},
        evaluate=EVALUATE,
        limits=FlowLimits(),
    )
    if isinstance(finished, RunFault):
        raise InvalidInput(f"The article can't be judged: {finished.code}.")
    return finished.completion


async def _json_object(request: HttpRequest) -> JsonObject:
    value = parse_json(await request.body())
    if not isinstance(value, dict):
        raise InvalidInput("The body is a JSON object.")
    return value


def _answer(status: int, returned: Request) -> Response:
    shown: JsonObject = {"id": str(returned.id), "state": returned.state, "data": returned.data}
    response = _json(status, shown)
    response.headers["ETag"] = f'"{returned.revision}"'
    return response


async def _refused(_request: HttpRequest, refusal: Exception) -> Response:
    assert isinstance(refusal, OrchestratorError), "it is registered for these only"
    shown: JsonObject = {
        "code": refusal.code,
        "message": refusal.message,
        "pointer": refusal.pointer,
    }
    return _json(STATUSES.get(refusal.code, 422), shown)


def _json(status: int, value: JsonValue) -> Response:
    return Response(dump_json(value), status_code=status, media_type="application/json")


def __getattr__(name: str) -> Starlette:
    """Build the service for `uvicorn returns_desk:app`, and only then."""
    if name != "app":
        raise AttributeError(name)
    return build_app("returns.sqlite")
