"""The flow of the durable figures: one event, actions that only read and do nothing, one final state."""

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.lifecycle import FlowStatus, PinnedContract, RequestType, StoredFlow
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    FlowId,
    FlowKey,
    RequestTypeKey,
    Revision,
    Role,
    Sha256Hex,
    Subject,
    TransitionKey,
)
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork

CLERK = Actor(
    subject=Subject("clerk"), roles=frozenset({Role("CLERK")}), scopes=frozenset({BusinessScope("NORTH")})
)
_ANY: JsonObject = {"type": "object"}
EVENT_SCHEMA = compile_schema(_ANY)

CONTRACT = ActionContract(
    action_type="INVOKE_INTEGRATION",
    integration_key="LOOKUP",
    contract_version=1,
    checksum=Sha256Hex(sha256_hex({"integration": "LOOKUP"})),
    effect=Effect.READ_ONLY,
    input_schema=_ANY,
    output_schema=_ANY,
)


def type_key(actions: int) -> RequestTypeKey:
    return RequestTypeKey(f"BENCH_{actions}")


async def store_flow(unit_of_work: UnitOfWork, identifiers: Identifiers, *, actions: int) -> StoredFlow:
    """Store and activate the flow whose one transition has so many actions."""
    draft = StoredFlow(
        id=FlowId(identifiers.uuid()),
        flow_key=FlowKey(f"BENCH_{actions}"),
        version=1,
        status=FlowStatus.DRAFT,
        schema_version=1,
        document=_document(actions),
        revision=Revision(0),
        created_by=CLERK.subject,
    )
    published = draft.published(
        checksum=Sha256Hex(sha256_hex(draft.document)), contracts=tuple(map(_pin, range(actions)))
    )

    async def story(work: Transaction) -> StoredFlow:
        stored = await work.flows.add(draft, _fact("FLOW_CREATED", draft))
        await work.flows.save(published, before=stored.revision, fact=_fact("FLOW_PUBLISHED", draft))
        requested = RequestType(
            key=type_key(actions), active_flow=draft.id, enabled=True, revision=Revision(0)
        )
        await work.request_types.add(requested, _fact("FLOW_ACTIVATED", draft))
        return published

    return await unit_of_work.run(story)


def _document(actions: int) -> JsonObject:
    return {
        "schemaVersion": 1,
        "flowKey": f"BENCH_{actions}",
        "version": 1,
        "initialState": "OPEN",
        "states": [{"key": "OPEN", "terminal": False}, {"key": "DONE", "terminal": True}],
        "creation": {"inputSchema": _ANY},
        "events": [{"key": "GO", "inputSchema": _ANY}],
        "transitions": [
            {
                "id": "go",
                "from": "OPEN",
                "event": "GO",
                "allowedRoles": ["CLERK"],
                "actions": [_action(number) for number in range(actions)],
                "to": "DONE",
                "updates": [],
            }
        ],
        "decisions": [],
        "tasks": [],
    }


def _action(number: int) -> JsonObject:
    return {
        "id": f"look{number}",
        "type": CONTRACT.action_type,
        "integrationKey": "LOOKUP",
        "inputs": {"item": {"path": "/request/data/item"}},
        "resultKey": f"look{number}",
    }


def _pin(number: int) -> PinnedContract:
    return PinnedContract(
        transition=TransitionKey("go"),
        action=ActionKey(f"look{number}"),
        action_type=CONTRACT.action_type,
        integration_key=CONTRACT.integration_key,
        contract_version=CONTRACT.contract_version,
        profile=CONTRACT.profile,
        profile_version=CONTRACT.profile_version,
        checksum=CONTRACT.checksum,
    )


def _fact(action: str, flow: StoredFlow) -> AdminFact:
    return AdminFact(action=action, actor=CLERK.subject, flow_id=flow.id, type_key=None, detail={})
