"""Teach flows a new type of action, and run one over the stores in memory from publication to its end.

A handler makes one attempt and answers with what came of it. What the action takes, gives and does is said by its
contract, which the operator trusts; the flow only names the type.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from orchestrator_domain import (
    AcceptEvent,
    AcceptEventCommand,
    ActionContext,
    ActionContract,
    Actor,
    CompiledDecisionEvaluator,
    CreateRequest,
    Effect,
    ExecutionRunner,
    FlowLimits,
    FlowSoundness,
    RevisionIn,
    Succeeded,
    parse_json,
)
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import (
    BusinessScope,
    EventKey,
    IdempotencyKey,
    LeaseOwner,
    RequestTypeKey,
    Role,
    Sha256Hex,
    Subject,
)
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.published_flows import InMemoryPublishedFlows
from orchestrator_domain.testing.in_memory.store import InMemoryStore
from orchestrator_domain.testing.in_memory.unit_of_work import InMemoryUnitOfWork
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.flow_library import FlowLibrary

SECRETARY = Actor(
    subject=Subject("secretary-1"),
    roles=frozenset(map(Role, ("SECRETARY", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"))),
    scopes=frozenset({BusinessScope("CLUB")}),
)
TYPE = RequestTypeKey("MEMBERSHIP")
INPUTS: JsonObject = {"type": "object", "required": ["name", "address"]}
OUTPUTS: JsonObject = {
    "type": "object",
    "required": ["taken"],
    "additionalProperties": False,
    "properties": {"taken": {"type": "boolean"}, "trackingCode": {"type": "string"}},
}
# A letter is sent at most once for each key, so an attempt whose answer was lost may be repeated.
CONTRACT = ActionContract(
    action_type="SEND_LETTER",
    contract_version=1,
    checksum=Sha256Hex(sha256_hex({"type": "SEND_LETTER", "inputs": INPUTS, "outputs": OUTPUTS})),
    effect=Effect.IDEMPOTENT_WRITE,
    input_schema=INPUTS,
    output_schema=OUTPUTS,
)
CATALOGUE = FixedCatalogue(
    [CONTRACT],
    configuration_schemas={
        "SEND_LETTER": {
            "type": "object",
            "required": ["stationery"],
            "properties": {"stationery": {"enum": ["formal", "plain"]}},
        }
    },
)


class SystemClock:
    """Tell the store the time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SendLetter:
    """Implement the ActionHandler port with a post office that remembers the keys of the letters it took."""

    type = "SEND_LETTER"

    def __init__(self) -> None:
        self._tracking_codes: dict[str, str] = {}

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> Succeeded:
        if context.inputs["address"] == "unknown":
            return Succeeded(result={"taken": False})
        number = len(self._tracking_codes) + 1
        code = self._tracking_codes.setdefault(
            context.external_key, f"{definition.configuration['stationery']}-{number}"
        )
        return Succeeded(result={"taken": True, "trackingCode": code})


class Club:
    """Hold the use cases over one store in memory."""

    def __init__(self) -> None:
        clock, identifiers, observer = SystemClock(), SequentialIdentifiers(), RecordingObserver()
        store, flows, limits = InMemoryStore(clock), FlowLibrary(), FlowLimits()
        unit_of_work = InMemoryUnitOfWork(store)
        self.author = AuthorFlow(
            unit_of_work=unit_of_work,
            validator=FlowSoundness(resolve_contract=CATALOGUE.current),
            catalogue=CATALOGUE,
            identifiers=identifiers,
        )
        self.activate = ActivateFlow(unit_of_work=unit_of_work)
        self.create = CreateRequest(
            unit_of_work=unit_of_work, flows=flows, identifiers=identifiers, limits=limits
        )
        self.accept = AcceptEvent(
            unit_of_work=unit_of_work,
            flows=flows,
            identifiers=identifiers,
            wakeup=InMemoryWakeup(clock),
            observer=observer,
        )
        self.queue = InMemoryExecutionQueue(store)
        self.runner = ExecutionRunner(
            queue=self.queue,
            flows=flows,
            published_flows=InMemoryPublishedFlows(store),
            catalogue=CATALOGUE,
            attempt=SendLetter().execute,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=identifiers,
            observer=observer,
            limits=limits,
        )
        self.store = store

    async def publish(self, document: JsonObject) -> None:
        draft = await self.author.create_draft(document, SECRETARY)
        await self.author.publish(draft.id, SECRETARY)
        await self.activate.activate(TYPE, draft.id, precondition=MustNotExist(), actor=SECRETARY)

    async def welcome(self, name: str, address: str) -> None:
        """Create a request, send it the event, and run what is due."""
        created = await self.create(
            CreateRequestCommand(
                type_key=TYPE,
                data={"name": name, "address": address},
                scope=None,
                key=IdempotencyKey(f"apply-{name}"),
            ),
            SECRETARY,
        )
        command = AcceptEventCommand(
            request_id=created.request.request.id,
            event=EventKey("WELCOME"),
            data={},
            key=IdempotencyKey(f"welcome-{name}"),
            precondition=RevisionIn(tags=("0",)),
        )
        await self.accept(command, SECRETARY)
        for claimed in await self.queue.claim(owner=LeaseOwner("example"), limit=10, lease_seconds=60):
            await self.runner.run(claimed)
        row = self.store.requests.rows[command.request_id]
        print(name, row.request.state, row.request.data.get("trackingCode"))


async def main() -> None:
    """Publish the flow and welcome two members, one of whom has no address that the post office knows."""
    document = parse_json((Path(__file__).parent / "greetings.json").read_bytes())
    club = Club()
    await club.publish(cast("JsonObject", document))
    await club.welcome("Ada", "1 Harbour Road")
    await club.welcome("Ben", "unknown")


if __name__ == "__main__":
    asyncio.run(main())
