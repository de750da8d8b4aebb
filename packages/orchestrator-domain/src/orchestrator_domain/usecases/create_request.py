"""Create a request: resolve its type's active flow and fix that version for its whole life."""

from attrs import field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.errors import (
    FlowRetired,
    IdempotencyConflict,
    OrchestratorError,
    RequestTypeDisabled,
    RequestTypeWithoutFlow,
    StorageUnavailable,
    UnknownRequestType,
)
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import (
    AuditEntryId,
    BusinessScope,
    RequestId,
    RequestTypeKey,
    Sha256Hex,
)
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.observer import Command, Observer, Unobserved
from orchestrator_domain.ports.request_store import CreationRecord, VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.creation import (
    CreateRequestCommand,
    chosen_scope,
    created_request,
    creation_hash,
)
from orchestrator_domain.request.request import FlowReference, Request
from orchestrator_domain.usecases.flow_library import FlowLibrary


@frozen(kw_only=True)
class RequestCreated:
    """The request, and whether an earlier command with the same key had created it already."""

    request: VisibleRequest
    replayed: bool


@frozen(kw_only=True)
class CreateRequest:
    """Create requests, durably idempotent per actor, scope and key.

    Raises ScopeRequired, AccessDenied, UnknownRequestType, RequestTypeDisabled, RequestTypeWithoutFlow, FlowRetired,
    InvalidInput, DataTooLarge, IdempotencyConflict or StorageUnavailable; then nothing has been stored, but for the
    last one, whose outcome is unknown and safe to repeat.
    """

    unit_of_work: UnitOfWork
    flows: FlowLibrary
    identifiers: Identifiers
    limits: FlowLimits
    observer: Observer = field(factory=Unobserved)

    async def __call__(self, command: CreateRequestCommand, actor: Actor) -> RequestCreated:
        try:
            created = await self._told(command, actor)
        except OrchestratorError as refusal:
            self.observer.command_refused(command=Command.CREATE_REQUEST, code=refusal.code)
            raise
        if not created.replayed:
            request = created.request.request
            self.observer.request_created(request_id=request.id, flow=request.flow)
        return created

    async def _told(self, command: CreateRequestCommand, actor: Actor) -> RequestCreated:
        scope = chosen_scope(command, actor)
        record = CreationRecord(
            actor=actor.subject,
            scope=scope,
            key=command.key,
            payload_hash=creation_hash(command),
            request_id=RequestId(self.identifiers.uuid()),
        )

        async def story(work: Transaction) -> RequestCreated:
            earlier = await work.requests.reserve_creation(record)
            if earlier is not None:
                return await self._replayed(work, record, earlier, actor)
            return await self._created(work, record, command, actor, scope)

        return await self.unit_of_work.run(story)

    async def _replayed(
        self, work: Transaction, record: CreationRecord, earlier: CreationRecord, actor: Actor
    ) -> RequestCreated:
        if earlier.payload_hash != record.payload_hash:
            raise IdempotencyConflict(
                "This Idempotency-Key was used to create another request; use a new key."
            )
        request = await work.requests.find_visible(earlier.request_id, actor)
        if request is None:
            raise StorageUnavailable("The request that this key created can't be read from the store.")
        return RequestCreated(request=request, replayed=True)

    async def _created(
        self,
        work: Transaction,
        record: CreationRecord,
        command: CreateRequestCommand,
        actor: Actor,
        scope: BusinessScope,
    ) -> RequestCreated:
        active = await _active_flow(work, command.type_key)
        reference = _reference(active)
        request = created_request(
            command,
            actor,
            request_id=record.request_id,
            scope=scope,
            reference=reference,
            flow=await self.flows.ready(reference, work.flows),
            limits=self.limits,
        )
        stored = await work.requests.add(request, self._fact(request, actor, command))
        return RequestCreated(request=VisibleRequest(request=stored, active_execution=None), replayed=False)

    def _fact(self, request: Request, actor: Actor, command: CreateRequestCommand) -> AuditFact:
        return AuditFact(
            id=AuditEntryId(self.identifiers.uuid()),
            kind=AuditKind.REQUEST_CREATED,
            actor=actor.subject,
            flow_id=request.flow.id,
            to_state=request.state,
            detail={
                "typeKey": request.type_key,
                "flowKey": request.flow.key,
                "flowVersion": request.flow.version,
                "correlationId": command.correlation_id,
            },
            salt=self.identifiers.salt(),
        )


async def _active_flow(work: Transaction, key: RequestTypeKey) -> StoredFlow:
    """Lock the type, then its flow, both shared, and return the flow that new requests get."""
    request_type = await work.request_types.lock_shared(key)
    if request_type is None:
        raise UnknownRequestType("There is no request type with this key.", pointer="/typeKey")
    if not request_type.enabled:
        raise RequestTypeDisabled("This request type is switched off.", pointer="/typeKey")
    if request_type.active_flow is None:
        raise RequestTypeWithoutFlow("This request type has no active flow.", pointer="/typeKey")
    flow = await work.flows.lock_shared(request_type.active_flow)
    if flow is None or flow.status is not FlowStatus.PUBLISHED:
        raise FlowRetired("The flow of this request type has been retired; activate another version.")
    return flow


def _reference(flow: StoredFlow) -> FlowReference:
    checksum = flow.checksum
    assert checksum is not None, "a published flow has its checksum"
    return FlowReference(id=flow.id, key=flow.flow_key, version=flow.version, checksum=Sha256Hex(checksum))
