"""The fixed catalogue keeps what the port IntegrationCatalogue promises."""

from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract, ContractFault, Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey, Sha256Hex
from orchestrator_domain.simulation.no_op import NO_OP, NO_OP_CONTRACT
from orchestrator_domain.testing.examples import LOOKUP, lookup_contract, pinned_contract
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue

OLD, NEW = lookup_contract(version=1), lookup_contract(version=2, effect=Effect.IDEMPOTENT_WRITE)
PROFILED = evolve(OLD, integration_key="INSPECTION", profile="TOOLS", profile_version=1)
NEWER_PROFILE = evolve(PROFILED, profile_version=2, checksum=Sha256Hex("e" * 64))
CATALOGUE = FixedCatalogue([NEW, OLD, PROFILED, NEWER_PROFILE])
ACTION = ActionDefinition(id=LOOKUP, type="INVOKE_INTEGRATION", integration_key="INVENTORY_LOOKUP")


def _codes(answer: ActionContract | tuple[ContractFault, ...]) -> list[tuple[str, str]]:
    assert isinstance(answer, tuple)
    return [(fault.code, fault.pointer) for fault in answer]


def test_the_newest_contract_is_current() -> None:
    assert CATALOGUE.current(ACTION) == NEW


def test_an_action_may_name_an_older_version() -> None:
    assert CATALOGUE.current(evolve(ACTION, contract_version=1)) == OLD


def test_the_newest_version_of_a_profile_is_current() -> None:
    assert CATALOGUE.current(evolve(ACTION, integration_key="INSPECTION", profile="TOOLS")) == NEWER_PROFILE


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"type": "SEND_PIGEON"}, ("UNKNOWN_ACTION_TYPE", "/type")),
        ({"integration_key": "ATTIC"}, ("UNKNOWN_INTEGRATION", "/integrationKey")),
        ({"integration_key": None}, ("UNKNOWN_INTEGRATION", "/integrationKey")),
        ({"integration_key": "INSPECTION", "profile": "BOATS"}, ("UNKNOWN_PROFILE", "/profile")),
        ({"profile": "TOOLS"}, ("UNKNOWN_PROFILE", "/profile")),
        ({"contract_version": 3}, ("UNKNOWN_CONTRACT_VERSION", "/contractVersion")),
        ({"configuration": {"speed/limit": 3}}, ("UNKNOWN_MEMBER", "/speed~1limit")),
    ],
)
def test_what_the_catalogue_does_not_have_is_a_fault_at_its_place(
    changes: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert _codes(CATALOGUE.current(evolve(ACTION, **changes))) == [fault]


def test_every_fault_is_listed_at_once() -> None:
    wrong = evolve(ACTION, contract_version=3, configuration={"speed": 3, "height": 4})
    assert _codes(CATALOGUE.current(wrong)) == [
        ("UNKNOWN_CONTRACT_VERSION", "/contractVersion"),
        ("UNKNOWN_MEMBER", "/speed"),
        ("UNKNOWN_MEMBER", "/height"),
    ]


def test_members_of_an_action_are_held_against_the_schema_of_its_type() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"speed": {"type": "integer"}},
        "additionalProperties": False,
    }
    catalogue = FixedCatalogue([OLD], configuration_schemas={"INVOKE_INTEGRATION": schema})
    assert catalogue.current(evolve(ACTION, configuration={"speed": 3})) == OLD
    wrong = catalogue.current(evolve(ACTION, configuration={"speed": "fast"}))
    assert _codes(wrong) == [("INVALID_CONFIGURATION", "/speed")]


@pytest.mark.parametrize("contract", [OLD, NEW, PROFILED, NEWER_PROFILE])
def test_a_pin_finds_exactly_its_version(contract: ActionContract) -> None:
    assert CATALOGUE.pinned(pinned_contract(contract)) == contract


@pytest.mark.parametrize(
    "changes",
    [
        {"checksum": Sha256Hex("f" * 64)},
        {"contract_version": 3},
        {"integration_key": "ATTIC"},
        {"profile": "TOOLS"},
        {"action_type": "SEND_PIGEON"},
    ],
)
def test_a_pin_that_the_catalogue_no_longer_has_finds_nothing(changes: dict[str, Any]) -> None:
    assert CATALOGUE.pinned(evolve(pinned_contract(OLD), **changes)) is None


def test_no_op_is_known_in_simulation_only() -> None:
    action = ActionDefinition(id=ActionKey("nothing"), type=NO_OP)
    assert _codes(CATALOGUE.current(action)) == [("UNKNOWN_ACTION_TYPE", "/type")]
    assert FixedCatalogue([OLD], simulation=True).current(action) == NO_OP_CONTRACT


def test_the_types_of_its_contracts_are_its_action_types() -> None:
    assert list(CATALOGUE.action_types()) == ["INVOKE_INTEGRATION"]
    assert set(FixedCatalogue([OLD], simulation=True).action_types()) == {"INVOKE_INTEGRATION", NO_OP}
