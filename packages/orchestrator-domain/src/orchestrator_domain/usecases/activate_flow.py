"""Choose which published flow version new requests of a type get."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowNotPublished, FlowRetired, NotFound, RevisionMismatch
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.lifecycle import FlowStatus, RequestType, StoredFlow
from orchestrator_domain.identifiers import CorrelationId, FlowId, RequestTypeKey, Revision
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import Precondition, revision_matches
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
            fact = _fact(key, flow, current, actor, correlation_id)
            if current is None:
                return await _created(work, key, flow_id, fact)
            return await work.request_types.save(
                current.activated(flow_id), before=current.revision, fact=fact
            )

        return await self.unit_of_work.run(story)


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


def _fact(
    key: RequestTypeKey,
    flow: StoredFlow,
    current: RequestType | None,
    actor: Actor,
    correlation_id: CorrelationId | None,
) -> AdminFact:
    before: JsonValue = None if current is None or current.active_flow is None else str(current.active_flow)
    return AdminFact(
        action="FLOW_ACTIVATED",
        actor=actor.subject,
        flow_id=flow.id,
        type_key=key,
        correlation_id=correlation_id,
        detail={"activeFlowBefore": before, "activeFlow": str(flow.id), "checksum": flow.checksum},
    )
