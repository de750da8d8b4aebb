"""What a suite needs to have happened before its own sentence begins, done through the ports alone."""

from attrs import field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import (
    ExecutionId,
    FlowId,
    IdempotencyKey,
    LeaseOwner,
    RequestId,
    Sha256Hex,
)
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.request_store import CreationRecord, VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.examples import (
    CLERK,
    TYPE_KEY,
    admin_fact,
    draft_flow,
    execution_of,
    fact_about,
    published,
    request_of,
    request_type,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

WORKER = LeaseOwner("worker-1")
OTHER_WORKER = LeaseOwner("worker-2")
LEASE_SECONDS = 60.0


@frozen(kw_only=True)
class StoredCases:
    """Bring about published flows, requests, accepted events and claims."""

    harness: StoreHarness
    identifiers: Identifiers = field(factory=SequentialIdentifiers)

    async def draft(self, *, flow_key: str = "LENDING", version: int = 1) -> StoredFlow:
        draft = draft_flow(self.identifiers, flow_key=flow_key, version=version)

        async def story(transaction: Transaction) -> StoredFlow:
            return await transaction.flows.add(draft, admin_fact("FLOW_CREATED", flow_id=draft.id))

        return await self.harness.unit_of_work().run(story)

    async def published_flow(self, *, flow_key: str = "LENDING", version: int = 1) -> StoredFlow:
        draft = await self.draft(flow_key=flow_key, version=version)

        async def story(transaction: Transaction) -> StoredFlow:
            fact = admin_fact("FLOW_PUBLISHED", flow_id=draft.id)
            return await transaction.flows.save(published(draft), before=draft.revision, fact=fact)

        return await self.harness.unit_of_work().run(story)

    async def active_flow(self) -> StoredFlow:
        """Publish a flow and make it the type's active one, unless that was done before."""
        found = await self._found_active_flow()
        return found if found is not None else await self._activated(await self.published_flow())

    async def request(self, *, owner: Actor = CLERK) -> Request:
        """Create a request in state OPEN at revision 0."""
        request = request_of(await self.active_flow(), self.identifiers, owner=owner)

        async def story(transaction: Transaction) -> Request:
            await transaction.requests.reserve_creation(creation_of(request))
            return await transaction.requests.add(request, self.fact(request, AuditKind.REQUEST_CREATED))

        return await self.harness.unit_of_work().run(story)

    async def reserved(self, request: Request, *, key: str) -> CreationRecord | None:
        """Reserve the key and add the request, or return the record of the key's earlier request."""
        return await self.recorded(request, creation_of(request, key=key))

    async def recorded(self, request: Request, record: CreationRecord) -> CreationRecord | None:
        async def story(transaction: Transaction) -> CreationRecord | None:
            earlier = await transaction.requests.reserve_creation(record)
            if earlier is None:
                await transaction.requests.add(request, self.fact(request, AuditKind.REQUEST_CREATED))
            return earlier

        return await self.harness.unit_of_work().run(story)

    async def stored_flow(self, flow_id: FlowId) -> StoredFlow | None:
        async def story(transaction: Transaction) -> StoredFlow | None:
            return await transaction.flows.find(flow_id)

        return await self.harness.unit_of_work().run(story)

    async def accepted(self, request: Request | None = None, *, key: str = "check-1") -> Execution:
        """Accept CHECK on the request, or on a new one."""
        before = request if request is not None else await self.request()

        async def story(transaction: Transaction) -> Execution:
            return await self.accept(transaction, before, key=key)

        return await self.harness.unit_of_work().run(story)

    async def accept(self, transaction: Transaction, before: Request, *, key: str) -> Execution:
        """Write the acceptance of CHECK inside a story of the suite's own."""
        request = before.accepted()
        execution = execution_of(request, self.identifiers, key=key)
        fact = self.fact(before, AuditKind.EVENT_ACCEPTED, execution.id)
        return await transaction.requests.save_acceptance(request, execution, fact)

    async def claimed(self, *, owner: LeaseOwner = WORKER) -> ClaimedExecution:
        """Accept an event on a new request and claim its execution."""
        await self.accepted()
        return await self.claim(owner=owner)

    async def claim(self, *, owner: LeaseOwner = WORKER) -> ClaimedExecution:
        """Claim the only execution that is due."""
        claimed = await self.harness.queue().claim(owner=owner, limit=10, lease_seconds=LEASE_SECONDS)
        assert len(claimed) == 1, "exactly one execution is due"
        return claimed[0]

    async def lost(self, claimed: ClaimedExecution) -> ClaimedExecution:
        """Let the lease run out and another worker claim the execution; return its claim."""
        await self.harness.expire_lease(claimed.execution.id)
        return await self.claim(owner=OTHER_WORKER)

    async def seen(self, request_id: RequestId, *, actor: Actor = CLERK) -> VisibleRequest:
        found = await self.visible(request_id, actor)
        assert found is not None, "the actor sees the request"
        return found

    async def visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        async def story(transaction: Transaction) -> VisibleRequest | None:
            return await transaction.requests.find_visible(request_id, actor)

        return await self.harness.unit_of_work().run(story)

    async def seen_execution(self, execution_id: ExecutionId) -> Execution:
        async def story(transaction: Transaction) -> Execution | None:
            return await transaction.requests.find_visible_execution(execution_id, CLERK)

        found = await self.harness.unit_of_work().run(story)
        assert found is not None, "the clerk sees the execution"
        return found

    def fact(self, request: Request, kind: AuditKind, execution_id: ExecutionId | None = None) -> AuditFact:
        return fact_about(request, self.identifiers, kind=kind, execution_id=execution_id)

    async def _found_active_flow(self) -> StoredFlow | None:
        async def story(transaction: Transaction) -> StoredFlow | None:
            found = await transaction.request_types.find(TYPE_KEY)
            if found is None or found.active_flow is None:
                return None
            return await transaction.flows.find(found.active_flow)

        return await self.harness.unit_of_work().run(story)

    async def _activated(self, flow: StoredFlow) -> StoredFlow:
        fact = admin_fact("FLOW_ACTIVATED", flow_id=flow.id, type_key=TYPE_KEY)

        async def story(transaction: Transaction) -> StoredFlow:
            await transaction.request_types.add(request_type(flow), fact)
            return flow

        return await self.harness.unit_of_work().run(story)


def creation_of(request: Request, *, key: str | None = None) -> CreationRecord:
    """Return the record of the creation of a request, under a key of its own unless one is given."""
    return CreationRecord(
        actor=request.owner,
        scope=request.scope,
        key=IdempotencyKey(key or f"create-{request.id}"),
        payload_hash=Sha256Hex("a" * 64),
        request_id=request.id,
    )
