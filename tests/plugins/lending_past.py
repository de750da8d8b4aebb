"""A database with a little past of the lending desk, made by the use cases themselves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from attrs import frozen
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import Succeeded
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import EventKey, IdempotencyKey, LeaseOwner, RequestId, Role
from orchestrator_domain.ports.unit_of_work import UnitOfWork
from orchestrator_domain.request.acceptance import AcceptEventCommand, AnyRevision
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.testing.examples import CLERK, TYPE_KEY, flow_document, lookup_contract
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.testing.scripted_handlers import ScriptedHandler
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_postgres.wakeup import PostgresWakeup
from orchestrator_service.system_identifiers import SystemIdentifiers

ADMINISTRATOR = Actor(
    subject=CLERK.subject,
    roles=frozenset(map(Role, ("CLERK", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"))),
    scopes=CLERK.scopes,
)
_CATALOGUE: Final = FixedCatalogue([lookup_contract()])
FORBIDDEN_SHELF = "Z9"
"""A result on this shelf breaks the flow's data schema, so that its run fails."""


def lending_document(*, version: int = 1) -> JsonObject:
    shelf: JsonObject = {"properties": {"shelf": {"not": {"const": FORBIDDEN_SHELF}}}}
    schema: JsonObject = {"type": "object", "properties": {"lookup": shelf}}
    return {**flow_document(version=version), "dataSchema": schema}


@frozen(kw_only=True)
class LendingPast:
    """Make things happen in a database, one after the other."""

    create: CreateRequest
    accept: AcceptEvent
    queue: PostgresExecutionQueue
    runner: ExecutionRunner
    handler: ScriptedHandler
    identifiers: SystemIdentifiers

    async def request(self, *events: JsonObject | None) -> RequestId:
        """Create a request and check it once for each result; None withdraws it, an empty one leaves it to its worker."""
        key = IdempotencyKey(str(self.identifiers.uuid()))
        command = CreateRequestCommand(type_key=TYPE_KEY, data={"item": "saw"}, scope=None, key=key)
        request_id = (await self.create(command, CLERK)).request.request.id
        for result in events:
            await self._send(request_id, "WITHDRAW" if result is None else "CHECK")
            if result != {}:
                await self._run(result)
        return request_id

    async def _send(self, request_id: RequestId, event: str) -> None:
        command = AcceptEventCommand(
            request_id=request_id,
            event=EventKey(event),
            data={},
            key=IdempotencyKey(str(self.identifiers.uuid())),
            precondition=AnyRevision(),
        )
        await self.accept(command, CLERK)

    def answer(self, result: JsonObject) -> None:
        """Let the next look-up give this."""
        self.handler.script("lookup", Succeeded(result=result))

    async def _run(self, result: JsonObject | None) -> None:
        if result is not None:
            self.answer(result)
        for claimed in await self.queue.claim(owner=LeaseOwner("past"), limit=1, lease_seconds=60):
            await self.runner.run(claimed)


@asynccontextmanager
async def lending_past(database: TestDatabase) -> AsyncIterator[LendingPast]:
    """Publish and activate the flow of the lending desk; what happens next is the test's."""
    settings, identifiers = ConnectionSettings(url=database.runtime_url), SystemIdentifiers()
    async with (
        PostgresEngine(settings) as engine,
        PostgresExecutionQueue(settings, identifiers) as queue,
        PostgresWakeup(settings, listens=False) as wakeup,
    ):
        await _publish(PostgresUnitOfWork(engine), identifiers)
        yield _past(engine, queue, wakeup, identifiers)


async def _publish(work: UnitOfWork, identifiers: SystemIdentifiers) -> None:
    author = AuthorFlow(
        unit_of_work=work,
        validator=FlowSoundness(resolve_contract=_CATALOGUE.current),
        catalogue=_CATALOGUE,
        identifiers=identifiers,
    )
    draft = await author.create_draft(lending_document(), ADMINISTRATOR)
    await author.publish(draft.id, ADMINISTRATOR)
    activate = ActivateFlow(unit_of_work=work)
    await activate.activate(TYPE_KEY, draft.id, precondition=MustNotExist(), actor=ADMINISTRATOR)


def _past(
    engine: PostgresEngine,
    queue: PostgresExecutionQueue,
    wakeup: PostgresWakeup,
    identifiers: SystemIdentifiers,
) -> LendingPast:
    work, flows, limits = PostgresUnitOfWork(engine), FlowLibrary(), FlowLimits()
    observer, handler = RecordingObserver(), ScriptedHandler()
    return LendingPast(
        create=CreateRequest(unit_of_work=work, flows=flows, identifiers=identifiers, limits=limits),
        accept=AcceptEvent(
            unit_of_work=work, flows=flows, identifiers=identifiers, wakeup=wakeup, observer=observer
        ),
        queue=queue,
        runner=ExecutionRunner(
            queue=queue,
            flows=flows,
            published_flows=PostgresPublishedFlows(engine),
            catalogue=_CATALOGUE,
            attempt=handler.execute,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=identifiers,
            observer=observer,
            limits=limits,
        ),
        handler=handler,
        identifiers=identifiers,
    )
