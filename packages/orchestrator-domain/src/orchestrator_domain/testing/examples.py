"""Small, valid values to test with: one flow of a lending desk, and what belongs to it.

A clerk checks a requested item against an inventory. Found items are lent, missing ones leave the request open.
"""

from decimal import Decimal

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus, external_key
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.lifecycle import FlowStatus, PinnedContract, RequestType, StoredFlow
from orchestrator_domain.identifiers import (
    ActionKey,
    AuditEntryId,
    BusinessScope,
    CheckpointId,
    CorrelationId,
    EventKey,
    ExecutionId,
    FlowId,
    FlowKey,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Revision,
    Role,
    Sha256Hex,
    StateKey,
    Subject,
    TraceParent,
    TransitionKey,
)
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.request.request import FlowReference, Request

CLERK = Actor(
    subject=Subject("clerk-1"), roles=frozenset({Role("CLERK")}), scopes=frozenset({BusinessScope("NORTH")})
)
COLLEAGUE = Actor(
    subject=Subject("clerk-2"), roles=frozenset({Role("CLERK")}), scopes=frozenset({BusinessScope("NORTH")})
)
STRANGER = Actor(
    subject=Subject("clerk-3"), roles=frozenset({Role("CLERK")}), scopes=frozenset({BusinessScope("SOUTH")})
)
TYPE_KEY = RequestTypeKey("LENDING")
LOOKUP = ActionKey("lookup")

_ITEM_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["item"],
    "additionalProperties": False,
    "properties": {"item": {"type": "string"}, "deposit": {"type": "number", "minimum": 0}},
}
_NO_DATA_SCHEMA: JsonObject = {"type": "object", "additionalProperties": False}
_FOUND_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["found"],
    "properties": {"found": {"type": "boolean"}, "shelf": {"type": "string"}},
}


def flow_document(*, flow_key: str = "LENDING", version: int = 1) -> JsonObject:
    """Return a publishable definition: OPEN goes by CHECK to LENT or stays, by WITHDRAW to WITHDRAWN."""
    return {
        "schemaVersion": 1,
        "flowKey": flow_key,
        "version": version,
        "initialState": "OPEN",
        "states": [
            {"key": "OPEN", "terminal": False},
            {"key": "LENT", "terminal": True},
            {"key": "WITHDRAWN", "terminal": True},
        ],
        "creation": {"inputSchema": _ITEM_SCHEMA},
        "events": [
            {"key": "CHECK", "inputSchema": _NO_DATA_SCHEMA},
            {"key": "WITHDRAW", "inputSchema": _NO_DATA_SCHEMA},
        ],
        "transitions": [_check_transition(), _withdraw_transition()],
        "decisions": [_availability_decision()],
        "tasks": [
            {"state": "OPEN", "event": "CHECK", "ui": {"component": "FORM", "title": "Check the item"}}
        ],
    }


def _check_transition() -> JsonObject:
    return {
        "id": "check",
        "from": "OPEN",
        "event": "CHECK",
        "allowedRoles": ["CLERK"],
        "actions": [
            {
                "id": "lookup",
                "type": "INVOKE_INTEGRATION",
                "integrationKey": "INVENTORY_LOOKUP",
                "inputs": {"item": {"path": "/request/data/item"}},
                "resultKey": "lookup",
            }
        ],
        "decision": "AVAILABILITY",
        "destinations": {"FOUND": "LENT", "MISSING": "OPEN"},
        "updates": [{"target": "/lookup", "value": {"path": "/results/lookup"}}],
    }


def _withdraw_transition() -> JsonObject:
    return {
        "id": "withdraw",
        "from": "OPEN",
        "event": "WITHDRAW",
        "allowedRoles": ["CLERK"],
        "actions": [],
        "to": "WITHDRAWN",
        "updates": [],
    }


def _availability_decision() -> JsonObject:
    found: JsonObject = {"op": "EQ", "left": {"path": "/results/lookup/found"}, "right": {"literal": True}}
    return {
        "id": "AVAILABILITY",
        "hitPolicy": "UNIQUE",
        "rules": [{"id": "found", "when": found, "output": "FOUND"}],
        "defaultOutput": "MISSING",
    }


def lookup_contract(*, effect: Effect = Effect.READ_ONLY, version: int = 1) -> ActionContract:
    """Return the contract of the flow's only action."""
    return ActionContract(
        action_type="INVOKE_INTEGRATION",
        integration_key="INVENTORY_LOOKUP",
        contract_version=version,
        checksum=Sha256Hex(
            sha256_hex({"integration": "INVENTORY_LOOKUP", "version": version, "effect": effect.value})
        ),
        effect=effect,
        input_schema={"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}}},
        output_schema=_FOUND_SCHEMA,
    )


def pinned_contract(contract: ActionContract) -> PinnedContract:
    """Return the pin that publishing the flow with this contract of its action leaves."""
    return PinnedContract(
        transition=TransitionKey("check"),
        action=LOOKUP,
        action_type=contract.action_type,
        integration_key=contract.integration_key,
        contract_version=contract.contract_version,
        profile=contract.profile,
        profile_version=contract.profile_version,
        checksum=contract.checksum,
    )


def draft_flow(identifiers: Identifiers, *, flow_key: str = "LENDING", version: int = 1) -> StoredFlow:
    """Return a draft as `FlowStore.add` takes it."""
    return StoredFlow(
        id=FlowId(identifiers.uuid()),
        flow_key=FlowKey(flow_key),
        version=version,
        status=FlowStatus.DRAFT,
        schema_version=1,
        document=flow_document(flow_key=flow_key, version=version),
        revision=Revision(0),
        created_by=CLERK.subject,
    )


def published(draft: StoredFlow, *, effect: Effect = Effect.READ_ONLY) -> StoredFlow:
    """Return the draft as publishing it leaves it, its only action pinned to a contract of this effect."""
    pins = (pinned_contract(lookup_contract(effect=effect)),)
    return draft.published(checksum=Sha256Hex(sha256_hex(draft.document)), contracts=pins)


def request_type(flow: StoredFlow, *, key: RequestTypeKey = TYPE_KEY) -> RequestType:
    return RequestType(key=key, active_flow=flow.id, enabled=True, revision=Revision(0))


def request_of(flow: StoredFlow, identifiers: Identifiers, *, owner: Actor = CLERK) -> Request:
    """Return a new request pinned to a published flow, in the owner's first scope."""
    assert flow.checksum is not None, "a request is pinned to a published flow"
    return Request(
        id=RequestId(identifiers.uuid()),
        type_key=TYPE_KEY,
        flow=FlowReference(id=flow.id, key=flow.flow_key, version=flow.version, checksum=flow.checksum),
        state=StateKey("OPEN"),
        data={"item": "ladder", "deposit": Decimal("12.50")},
        owner=owner.subject,
        scope=min(owner.scopes),
    )


def execution_of(
    accepted: Request, identifiers: Identifiers, *, key: str = "check-1", actor: Actor = CLERK
) -> Execution:
    """Return the execution of CHECK on a request whose revision the acceptance has bumped already."""
    return Execution(
        id=ExecutionId(identifiers.uuid()),
        request_id=accepted.id,
        idempotency_key=IdempotencyKey(key),
        payload_hash=Sha256Hex(sha256_hex({"event": "CHECK", "data": {}, "precondition": "*"})),
        actor=actor,
        event=EventKey("CHECK"),
        event_data={},
        transition=TransitionKey("check"),
        from_state=accepted.state,
        accepted_revision=accepted.revision,
        correlation_id=CorrelationId("call-1"),
        trace_parent=TraceParent(f"00-{'7' * 32}-{'3' * 16}-01"),
    )


def checkpoint_of(
    execution_id: ExecutionId,
    *,
    action: ActionKey = LOOKUP,
    status: CheckpointStatus = CheckpointStatus.RUNNING,
    attempts: int = 1,
    effect: Effect = Effect.READ_ONLY,
    result: JsonObject | None = None,
) -> Checkpoint:
    return Checkpoint(
        action=action,
        status=status,
        attempts=attempts,
        external_key=external_key(execution_id, action),
        input_hash=Sha256Hex(sha256_hex({"item": "ladder"})),
        effect=effect,
        result=result,
    )


def write_of(
    after: Checkpoint, identifiers: Identifiers, *, before: tuple[CheckpointStatus, int] | None = None
) -> CheckpointWrite:
    return CheckpointWrite(id=CheckpointId(identifiers.uuid()), after=after, before=before)


def fact_about(
    request: Request, identifiers: Identifiers, *, kind: AuditKind, execution_id: ExecutionId | None = None
) -> AuditFact:
    """Return a fact with a small detail."""
    return AuditFact(
        id=AuditEntryId(identifiers.uuid()),
        kind=kind,
        actor=CLERK.subject,
        flow_id=request.flow.id,
        execution_id=execution_id,
        from_state=request.state,
        detail={"transitionId": "check"},
        salt=identifiers.salt(),
    )


def admin_fact(
    action: str, *, flow_id: FlowId | None = None, type_key: RequestTypeKey | None = None
) -> AdminFact:
    return AdminFact(action=action, actor=CLERK.subject, flow_id=flow_id, type_key=type_key, detail={})
