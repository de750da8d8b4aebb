"""Use cases of flow administration over one database, and a way to let one of them stop just before its commit."""

import asyncio
from collections.abc import Awaitable, Callable

from attrs import define, evolve, field, frozen
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import RequestType, StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import CorrelationId, FlowId, IdempotencyKey, Role
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import AnyRevision
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.examples import (
    CLERK,
    TYPE_KEY,
    flow_document,
    lookup_contract,
)
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist, TypePrecondition
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork

AUTHOR = evolve(CLERK, roles=frozenset(map(Role, ("CLERK", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"))))
TRACE = CorrelationId("trace-1")
CATALOGUE = FixedCatalogue([lookup_contract()])


@define
class HeldUnitOfWork(UnitOfWork):
    """Tell a story to its last word, and commit only when `go_on` is set; its locks are held meanwhile.

    Where `repeatable_too` is off, stories that know their own work again (reads among them) are not held.
    """

    stores: UnitOfWork
    repeatable_too: bool = True
    told: asyncio.Event = field(factory=asyncio.Event)
    go_on: asyncio.Event = field(factory=asyncio.Event)

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self.stores.run(self._held(story) if self.repeatable_too else story)

    async def run_once[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self.stores.run_once(self._held(story))

    def _held[Result](
        self, story: Callable[[Transaction], Awaitable[Result]]
    ) -> Callable[[Transaction], Awaitable[Result]]:
        async def held(work: Transaction) -> Result:
            result = await story(work)
            self.told.set()
            await self.go_on.wait()
            return result

        return held


@frozen(kw_only=True)
class FlowAdministration:
    """One process: what it does goes through its own unit of work, which never repeats a story by itself.

    So a deadlock, which the adapter otherwise gets over unseen, is an error here.
    """

    unit_of_work: UnitOfWork
    identifiers: Identifiers
    flows: FlowLibrary = field(factory=FlowLibrary)

    @classmethod
    def over(cls, harness: PostgresHarness, identifiers: Identifiers | None = None) -> "FlowAdministration":
        return cls(
            unit_of_work=PostgresUnitOfWork(harness.engine, attempts_max=1),
            identifiers=identifiers or SequentialIdentifiers(),
        )

    def held(self, *, repeatable_too: bool = True) -> "tuple[FlowAdministration, HeldUnitOfWork]":
        """Return the same process, but held before its commits, and what holds it."""
        work = HeldUnitOfWork(self.unit_of_work, repeatable_too=repeatable_too)
        return evolve(self, unit_of_work=work), work

    @property
    def author(self) -> AuthorFlow:
        return AuthorFlow(
            unit_of_work=self.unit_of_work,
            validator=FlowSoundness(resolve_contract=CATALOGUE.current),
            catalogue=CATALOGUE,
            identifiers=self.identifiers,
        )

    async def draft(self, document: JsonObject | None = None) -> StoredFlow:
        return await self.author.create_draft(document or flow_document(), AUTHOR, correlation_id=TRACE)

    async def publish(self, flow_id: FlowId) -> StoredFlow:
        return await self.author.publish(flow_id, AUTHOR, correlation_id=TRACE)

    async def published(self, version: int = 1) -> StoredFlow:
        return await self.publish((await self.draft(flow_document(version=version))).id)

    async def retire(self, flow_id: FlowId) -> StoredFlow:
        return await self.author.retire(flow_id, AUTHOR, correlation_id=TRACE)

    async def activate(self, flow_id: FlowId, precondition: TypePrecondition | None = None) -> RequestType:
        return await ActivateFlow(unit_of_work=self.unit_of_work).activate(
            TYPE_KEY,
            flow_id,
            precondition=precondition or AnyRevision(),
            actor=AUTHOR,
            correlation_id=TRACE,
        )

    async def activate_first(self, flow_id: FlowId) -> RequestType:
        return await self.activate(flow_id, MustNotExist())

    async def switch(self, *, enabled: bool) -> RequestType:
        return await ActivateFlow(unit_of_work=self.unit_of_work).switch(
            TYPE_KEY, enabled=enabled, precondition=AnyRevision(), actor=AUTHOR, correlation_id=TRACE
        )

    async def create(self, key: str, actor: Actor = CLERK) -> Request:
        command = CreateRequestCommand(
            type_key=TYPE_KEY, data={"item": "ladder"}, scope=None, key=IdempotencyKey(key)
        )
        creation = CreateRequest(
            unit_of_work=self.unit_of_work,
            flows=self.flows,
            identifiers=self.identifiers,
            limits=FlowLimits(),
        )
        return (await creation(command, actor)).request.request


async def waits_for_a_lock(harness: PostgresHarness, *, how_many: int = 1) -> None:
    """Return as soon as the server reports that so many of the runtime role's connections wait for a lock."""
    waiting = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(30):
        while (await asyncio.to_thread(harness.database.execute, waiting))[0][0] < how_many:
            pass
