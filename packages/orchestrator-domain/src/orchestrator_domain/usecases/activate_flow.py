"""Choose which published flow version new requests of a type get, and whether there are any."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowNotPublished, FlowRetired, NotFound, RevisionMismatch
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus, RequestType, StoredFlow
from orchestrator_domain.identifiers import CorrelationId, FlowId, RequestTypeKey, Revision
from orchestrator_domain.ports.flow_store import LISTED_MAX, AdminFact
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import Precondition, revision_matches
from orchestrator_domain.usecases.page import Page, page_of
from orchestrator_domain.usecases.permissions import FLOW_ADMIN, FLOW_READERS, require_any


@frozen
class MustNotExist:
    """`If-None-Match: *`: the first activation, which creates the type."""


type TypePrecondition = Precondition | MustNotExist


@frozen(kw_only=True)
class ActivateFlow:
    """Create and change request types, each change under a precondition and with its admin_audit entry."""

    unit_of_work: UnitOfWork

    async def find(self, key: RequestTypeKey, actor: Actor) -> RequestType:
        require_any(actor, *FLOW_READERS)

        async def story(work: Transaction) -> RequestType:
            return _known(await work.request_types.find(key))

        return await self.unit_of_work.run(story)

    async def list_types(
        self, actor: Actor, *, after: RequestTypeKey | None = None, limit: int = LISTED_MAX
    ) -> Page[RequestType, RequestTypeKey]:
        """Return at most `limit` types in the order of their keys, from behind a key on."""
        require_any(actor, *FLOW_READERS)

        async def story(work: Transaction) -> Page[RequestType, RequestTypeKey]:
            found = await work.request_types.list_types(after=after, limit=limit + 1)
            return page_of(found, limit=limit, position=lambda each: each.key)

        return await self.unit_of_work.run(story)

    async def activate(
        self,
        key: RequestTypeKey,
        flow_id: FlowId,
        *,
        precondition: TypePrecondition,
        actor: Actor,
        correlation_id: CorrelationId | None = None,
    ) -> RequestType:
        """Point the type at a published flow, atomically.

        Raises RevisionMismatch (also when the type exists under MustNotExist, or doesn't under another precondition), FlowNotPublished,
        FlowRetired or NotFound (the flow).
        """
        require_any(actor, FLOW_ADMIN)

        async def story(work: Transaction) -> RequestType:
            current = await work.request_types.lock(key)
            _require(precondition, current)
            flow = await _published_flow(work, flow_id)
            earlier = await _active_flow(work, current)
            fact = _activation(key, flow, actor, correlation_id, earlier=earlier)
            if current is None:
                return await _created(work, key, flow_id, fact)
            return await work.request_types.save(
                current.activated(flow_id), before=current.revision, fact=fact
            )

        return await self.unit_of_work.run_once(story)

    async def switch(
        self,
        key: RequestTypeKey,
        *,
        enabled: bool,
        precondition: Precondition,
        actor: Actor,
        correlation_id: CorrelationId | None = None,
    ) -> RequestType:
        """Open a type to new requests or close it to them; requests that exist go on.

        What is set already stays as it is, without another revision or fact. Raises NotFound or RevisionMismatch.
        """
        require_any(actor, FLOW_ADMIN)

        async def story(work: Transaction) -> RequestType:
            current = _known(await work.request_types.lock(key))
            _require(precondition, current)
            if current.enabled == enabled:
                return current
            switched = current.switched(enabled=enabled)
            fact = _switching(switched, await _active_flow(work, current), actor, correlation_id)
            return await work.request_types.save(switched, before=current.revision, fact=fact)

        return await self.unit_of_work.run_once(story)


async def _published_flow(work: Transaction, flow_id: FlowId) -> StoredFlow:
    flow = await work.flows.lock_shared(flow_id)
    if flow is None:
        raise NotFound("There is no such flow.", pointer="/flowId")
    if flow.status is FlowStatus.RETIRED:
        raise FlowRetired("This flow version has been retired; activate another one.", pointer="/flowId")
    if flow.status is FlowStatus.DRAFT:
        raise FlowNotPublished("Publish this flow version before you activate it.", pointer="/flowId")
    return flow


async def _created(work: Transaction, key: RequestTypeKey, flow_id: FlowId, fact: AdminFact) -> RequestType:
    first = RequestType(key=key, active_flow=flow_id, enabled=True, revision=Revision(0))
    if not await work.request_types.add(first, fact):
        raise RevisionMismatch("This request type exists already; send If-Match with its ETag.", current=None)
    return first


def _require(precondition: TypePrecondition, current: RequestType | None) -> None:
    if isinstance(precondition, MustNotExist):
        if current is not None:
            raise RevisionMismatch(
                "This request type exists already; send If-Match with its ETag.", current=current.revision
            )
        return
    if current is None:
        raise RevisionMismatch(
            "There is no such request type; create it with If-None-Match: *.", current=None
        )
    if not revision_matches(precondition, current.revision):
        raise RevisionMismatch(
            "The request type has changed since you read it; read it again.", current=current.revision
        )


def _known(request_type: RequestType | None) -> RequestType:
    if request_type is None:
        raise NotFound("There is no such request type.")
    return request_type


async def _active_flow(work: Transaction, current: RequestType | None) -> StoredFlow | None:
    if current is None or current.active_flow is None:
        return None
    return await work.flows.find(current.active_flow)


def _activation(
    key: RequestTypeKey,
    flow: StoredFlow,
    actor: Actor,
    correlation_id: CorrelationId | None,
    *,
    earlier: StoredFlow | None,
) -> AdminFact:
    before: JsonObject = {"activeFlowBefore": None, "checksumBefore": None}
    if earlier is not None:
        before = {"activeFlowBefore": str(earlier.id), "checksumBefore": earlier.checksum}
    return AdminFact(
        action="FLOW_ACTIVATED",
        actor=actor.subject,
        flow_id=flow.id,
        type_key=key,
        correlation_id=correlation_id,
        detail={**before, "activeFlow": str(flow.id), "checksum": flow.checksum},
    )


def _switching(
    switched: RequestType, active: StoredFlow | None, actor: Actor, correlation_id: CorrelationId | None
) -> AdminFact:
    checksum = None if active is None else active.checksum
    return AdminFact(
        action="TYPE_ENABLED" if switched.enabled else "TYPE_DISABLED",
        actor=actor.subject,
        flow_id=switched.active_flow,
        type_key=switched.key,
        correlation_id=correlation_id,
        detail={"enabledBefore": not switched.enabled, "enabled": switched.enabled, "checksum": checksum},
    )
