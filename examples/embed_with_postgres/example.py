"""Use the domain over PostgreSQL in a script: no HTTP, no settings, no worker process.

    python example.py postgresql://orchestrator_service:…@host/database

The database is at the service's schema revision (`orchestrator migrate`), and no worker of a service claims from it; the
role is the runtime role. Once is enough: a second time the flow's version 1 exists already. Everything that is stored is
as durable as in the service: if this script is killed between two lines, the next one that claims goes on where it
stopped.
"""

import asyncio
import sys
from pathlib import Path
from secrets import token_hex
from time import time_ns
from typing import cast
from uuid import UUID, uuid4

from orchestrator_domain import (
    AcceptEvent,
    AcceptEventCommand,
    ActionContext,
    Actor,
    CompiledDecisionEvaluator,
    CreateRequest,
    ExecutionRunner,
    FlowLimits,
    FlowSoundness,
    RevisionIn,
    Succeeded,
    parse_json,
)
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import (
    BusinessScope,
    EventKey,
    IdempotencyKey,
    LeaseOwner,
    RequestId,
    RequestTypeKey,
    Role,
    Subject,
)
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_postgres.wakeup import PostgresWakeup

FLOW = Path(__file__).parents[1] / "embed_in_a_service" / "returns.json"
TYPE = RequestTypeKey("RETURNS")
ACTOR = Actor(
    subject=Subject("inspector-1"),
    roles=frozenset(map(Role, ("INSPECTOR", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"))),
    scopes=frozenset({BusinessScope("SHOP")}),
)
# The flow calls nothing; one that does names integrations that a catalogue of contracts knows.
CATALOGUE = FixedCatalogue([])


class SystemIdentifiers:
    """Give out ids that ascend by the millisecond (RFC 9562, version 7), so that indexes grow at their end."""

    def uuid(self) -> UUID:
        return UUID(int=(time_ns() // 1_000_000) << 80 | 0x7 << 76 | uuid4().int & ((1 << 76) - 1))

    def salt(self) -> str:
        return token_hex(16)

    def fraction(self) -> float:
        return 0.5


class Desk:
    """Hold the use cases over one engine."""

    def __init__(self, engine: PostgresEngine, queue: PostgresExecutionQueue, wakeup: PostgresWakeup) -> None:
        identifiers, observer, flows = SystemIdentifiers(), RecordingObserver(), FlowLibrary()
        work, limits = PostgresUnitOfWork(engine), FlowLimits()
        self.author = AuthorFlow(
            unit_of_work=work,
            validator=FlowSoundness(resolve_contract=CATALOGUE.current),
            catalogue=CATALOGUE,
            identifiers=identifiers,
        )
        self.activate = ActivateFlow(unit_of_work=work)
        self.create = CreateRequest(unit_of_work=work, flows=flows, identifiers=identifiers, limits=limits)
        self.accept = AcceptEvent(
            unit_of_work=work, flows=flows, identifiers=identifiers, wakeup=wakeup, observer=observer
        )
        self.read = ReadRequest(unit_of_work=work, flows=flows)
        self.queue = queue
        self.runner = ExecutionRunner(
            queue=queue,
            flows=flows,
            published_flows=PostgresPublishedFlows(engine),
            catalogue=CATALOGUE,
            attempt=_nothing_to_call,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=identifiers,
            observer=observer,
            limits=limits,
        )

    async def publish(self) -> None:
        document = cast("JsonObject", parse_json(FLOW.read_bytes()))
        draft = await self.author.create_draft(document, ACTOR)
        await self.author.publish(draft.id, ACTOR)
        await self.activate.activate(TYPE, draft.id, precondition=MustNotExist(), actor=ACTOR)

    async def register(self, article: str, price: int) -> RequestId:
        command = CreateRequestCommand(
            type_key=TYPE,
            data={"article": article, "price": price},
            scope=None,
            key=IdempotencyKey(f"register-{article}"),
        )
        return (await self.create(command, ACTOR)).request.request.id

    async def inspect(self, request_id: RequestId, wear: JsonObject) -> None:
        """Accept the event, then run whatever is due."""
        command = AcceptEventCommand(
            request_id=request_id,
            event=EventKey("INSPECT"),
            data=wear,
            key=IdempotencyKey("inspect"),
            precondition=RevisionIn(tags=("0",)),
        )
        await self.accept(command, ACTOR)
        for claimed in await self.queue.claim(owner=LeaseOwner("script"), limit=10, lease_seconds=60):
            ended = await self.runner.run(claimed)
            print("run ended", ended.status)


async def _nothing_to_call(_definition: ActionDefinition, _context: ActionContext) -> Succeeded:
    raise AssertionError("The flow has no actions.")


async def main(url: str) -> None:
    """Publish the flow, register an article, inspect it, and print what became of it."""
    settings = ConnectionSettings(url=url)
    async with (
        PostgresEngine(settings) as engine,
        PostgresExecutionQueue(settings, SystemIdentifiers()) as queue,
        PostgresWakeup(settings, listens=False) as wakeup,
    ):
        desk = Desk(engine, queue, wakeup)
        await desk.publish()
        request_id = await desk.register("ladder", 80)
        await desk.inspect(request_id, cast("JsonObject", parse_json('{"wear": 0.05}')))
        seen = (await desk.read.request(request_id, ACTOR)).request
        print(seen.state, "revision", seen.revision, "refund", seen.data["refund"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1]))
