"""Flows whose actions have every effect in every order that matters, ready to be stored without further ado."""

from collections.abc import Mapping
from functools import cache
from uuid import UUID

from attrs import evolve, frozen

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ActionContract, Effect, ProbeContract
from orchestrator_domain.flow.lifecycle import FlowStatus, PinnedContract, StoredFlow
from orchestrator_domain.identifiers import (
    ActionKey,
    FlowId,
    FlowKey,
    Revision,
    Sha256Hex,
    Subject,
    TransitionKey,
)
from orchestrator_domain.testing.chain import CHAIN_TYPE, ChainCatalogue, chain_contract

KEY_MEMORY_SECONDS = 400.0
EFFECTS: dict[str, Effect] = {
    "look": Effect.READ_ONLY,
    "verify": Effect.READ_ONLY,
    "book": Effect.IDEMPOTENT_WRITE,
    "tell": Effect.IDEMPOTENT_WRITE,
    "pay": Effect.NON_IDEMPOTENT_WRITE,
    "send": Effect.NON_IDEMPOTENT_WRITE,
}
"""What each action does to the world; `tell` is served by a provider that forgets its keys, `pay` by one that can
be asked what it has done."""

CHAINS: tuple[tuple[str, ...], ...] = (
    ("look", "book", "pay"),
    ("pay", "verify"),
    ("book", "look"),
    ("tell", "verify"),
    ("pay", "send"),
    ("send",),
    ("look",),
    ("book", "tell"),
)


@frozen(kw_only=True)
class Scenario:
    """A published flow: GO takes OPEN to HALF by way of a chain, and HALF to DONE by way of its first action's twin."""

    flow: StoredFlow
    catalogue: ChainCatalogue
    actions: Mapping[TransitionKey, tuple[ActionKey, ...]]


@cache
def scenario(number: int) -> Scenario:
    """Return one of the scenarios; flows are immutable, so all seeds share them."""
    chain = CHAINS[number]
    transitions = {"first": chain, "second": (chain[0],)}
    contracts = {ActionKey(action): _contract(ActionKey(action)) for action in chain}
    document = _document(transitions)
    return Scenario(
        flow=StoredFlow(
            id=FlowId(UUID(int=(0x7 << 76) | (0b10 << 62) | number)),
            flow_key=FlowKey(f"FLOW_{number}"),
            version=1,
            status=FlowStatus.PUBLISHED,
            schema_version=1,
            document=document,
            checksum=Sha256Hex(sha256_hex(document)),
            contracts=tuple(
                _pin(TransitionKey(transition), contracts[ActionKey(action)], ActionKey(action))
                for transition, actions in transitions.items()
                for action in actions
            ),
            revision=Revision(1),
            created_by=Subject("author-1"),
        ),
        catalogue=ChainCatalogue(contracts),
        actions={
            TransitionKey(name): tuple(ActionKey(action) for action in actions)
            for name, actions in transitions.items()
        },
    )


def _contract(action: ActionKey) -> ActionContract:
    memory = KEY_MEMORY_SECONDS if action == "tell" else None
    contract = chain_contract(action, EFFECTS[action], key_memory_seconds=memory)
    return evolve(contract, probe=ProbeContract()) if action == "pay" else contract


def _pin(transition: TransitionKey, contract: ActionContract, action: ActionKey) -> PinnedContract:
    return PinnedContract(
        transition=transition,
        action=action,
        action_type=contract.action_type,
        integration_key=contract.integration_key,
        contract_version=contract.contract_version,
        profile=contract.profile,
        profile_version=contract.profile_version,
        checksum=contract.checksum,
    )


def _document(transitions: Mapping[str, tuple[str, ...]]) -> JsonObject:
    states: list[JsonValue] = [{"key": key, "terminal": key == "DONE"} for key in ("OPEN", "HALF", "DONE")]
    return {
        "schemaVersion": 1,
        "flowKey": "SIMULATED",
        "version": 1,
        "initialState": "OPEN",
        "states": states,
        "creation": {"inputSchema": {"type": "object"}},
        "events": [{"key": "GO", "inputSchema": {"type": "object"}}],
        "transitions": [
            _transition("first", "OPEN", "HALF", transitions["first"]),
            _transition("second", "HALF", "DONE", transitions["second"]),
        ],
        "decisions": [],
        "tasks": [],
    }


def _transition(name: str, source: str, target: str, actions: tuple[str, ...]) -> JsonObject:
    steps: list[JsonValue] = [_action(action) for action in actions]
    updates: list[JsonValue] = [
        {"target": f"/{name}_{action}", "value": {"path": f"/results/{action}"}} for action in actions
    ]
    return {
        "id": name,
        "from": source,
        "event": "GO",
        "allowedRoles": ["CLERK"],
        "actions": steps,
        "to": target,
        "updates": updates,
    }


def _action(action: str) -> JsonObject:
    return {
        "id": action,
        "type": CHAIN_TYPE,
        "integrationKey": action.upper(),
        "inputs": {"item": {"path": "/request/data/item"}},
        "resultKey": action,
    }
