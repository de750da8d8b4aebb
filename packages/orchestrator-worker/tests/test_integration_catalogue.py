"""Actions resolve to contracts, pins to exactly what was pinned."""

from typing import Any

import pytest
from attrs import evolve
from tests.plugins.lending_catalogue import (
    LOOKUP,
    catalogue_file,
    contract_of,
    deployed,
    lookup_integration,
)

from orchestrator_domain.decision.condition import LiteralOperand, PathOperand
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.identifiers import ActionKey, Sha256Hex, TransitionKey
from orchestrator_worker.action_types import REGISTER_DOCUMENT_CONTRACT, built_in_action
from orchestrator_worker.integration_catalogue import DeployedCatalogue

DATA = PathOperand(pointer=Pointer.parse("/event/data/documentId"))
PLAIN = deployed(catalogue_file(lookup_integration()))


def register(**changes: Any) -> ActionDefinition:
    action = ActionDefinition(
        id=ActionKey("register"),
        type="REGISTER_DOCUMENT",
        inputs={"documentId": DATA},
        configuration={"documentType": "CARD"},
    )
    return evolve(action, **changes)


def pin_of(contract: ActionContract) -> PinnedContract:
    return PinnedContract(
        transition=TransitionKey("check"),
        action=ActionKey("lookup"),
        action_type=contract.action_type,
        integration_key=contract.integration_key,
        contract_version=contract.contract_version,
        profile=contract.profile,
        profile_version=contract.profile_version,
        checksum=contract.checksum,
    )


def faults_of(action: ActionDefinition, catalogue: DeployedCatalogue = PLAIN) -> list[tuple[str, str]]:
    found = catalogue.current(action)
    assert isinstance(found, tuple)
    return [(fault.pointer, fault.code) for fault in found]


def test_an_action_gets_the_contract_of_its_integration() -> None:
    contract = contract_of(PLAIN, LOOKUP)
    assert (contract.action_type, contract.integration_key, contract.contract_version) == (
        "INVOKE_INTEGRATION",
        "INVENTORY_LOOKUP",
        1,
    )
    assert (contract.effect, contract.budget_seconds) == (Effect.READ_ONLY, 15)


def test_the_highest_version_is_taken_unless_one_is_named() -> None:
    catalogue = deployed(
        catalogue_file(*(lookup_integration(contractVersion=version) for version in (2, 10, 9)))
    )
    assert contract_of(catalogue, LOOKUP).contract_version == 10
    assert contract_of(catalogue, evolve(LOOKUP, contract_version=9)).contract_version == 9
    assert faults_of(evolve(LOOKUP, contract_version=3), catalogue) == [
        ("/contractVersion", "UNKNOWN_CONTRACT_VERSION")
    ]


def test_the_highest_version_of_the_named_profile_is_taken() -> None:
    profiles = [{"profile": "TOOLS", "profileVersion": version} for version in (1, 3, 2)]
    catalogue = deployed(catalogue_file(lookup_integration(profiles=profiles)))
    contract = contract_of(catalogue, evolve(LOOKUP, profile="TOOLS"))
    assert (contract.profile, contract.profile_version) == ("TOOLS", 3)
    assert faults_of(LOOKUP, catalogue) == [("/profile", "PROFILE_REQUIRED")]
    assert faults_of(evolve(LOOKUP, profile="TOOL"), catalogue) == [("/profile", "UNKNOWN_PROFILE")]
    assert faults_of(evolve(LOOKUP, profile="TOOLS")) == [("/profile", "UNKNOWN_PROFILE")]


@pytest.mark.parametrize(
    ("action", "fault"),
    [
        (evolve(LOOKUP, type="NO_OP"), ("/type", "ACTION_TYPE_NOT_PUBLISHABLE")),
        (evolve(LOOKUP, type="INVOKE"), ("/type", "UNKNOWN_ACTION_TYPE")),
        (evolve(LOOKUP, integration_key=None), ("/integrationKey", "MISSING_MEMBER")),
        (evolve(LOOKUP, integration_key="INVENTORY"), ("/integrationKey", "UNKNOWN_INTEGRATION")),
        (evolve(LOOKUP, configuration={"url": "http://x"}), ("/url", "UNKNOWN_MEMBER")),
        (evolve(LOOKUP, inputs={}), ("/inputs", "MISSING_INPUT")),
        (evolve(LOOKUP, inputs={**LOOKUP.inputs, "color": DATA}), ("/inputs/color", "UNKNOWN_INPUT")),
        (
            evolve(LOOKUP, inputs={"item": LiteralOperand(value=3)}),
            ("/inputs/item/literal", "INVALID_INPUT"),
        ),
        (register(configuration={}), ("", "INVALID_CONFIGURATION")),
        (register(configuration={"documentType": "CARD", "url": 1}), ("", "INVALID_CONFIGURATION")),
        (
            register(configuration={"documentType": "CARD", "maxBytes": 0}),
            ("/maxBytes", "INVALID_CONFIGURATION"),
        ),
        (
            register(configuration={"documentType": "CARD", "acceptedMimeTypes": ["PDF"]}),
            ("/acceptedMimeTypes/0", "INVALID_CONFIGURATION"),
        ),
        (register(integration_key="INVENTORY_LOOKUP"), ("/integrationKey", "UNKNOWN_MEMBER")),
        (register(profile="A"), ("/profile", "UNKNOWN_MEMBER")),
        (register(contract_version=2), ("/contractVersion", "UNKNOWN_CONTRACT_VERSION")),
        (register(inputs={}), ("/inputs", "MISSING_INPUT")),
        (register(inputs={"documentId": DATA, "url": DATA}), ("/inputs/url", "UNKNOWN_INPUT")),
    ],
)
def test_an_action_that_does_not_fit_is_refused_at_the_place(
    action: ActionDefinition, fault: tuple[str, str]
) -> None:
    assert faults_of(action) == [fault]


def test_every_fault_of_an_action_comes_at_once() -> None:
    action = evolve(LOOKUP, profile="A", inputs={"color": DATA}, configuration={"url": 1})
    assert [code for _, code in faults_of(action)] == [
        "UNKNOWN_MEMBER",
        "UNKNOWN_PROFILE",
        "MISSING_INPUT",
        "UNKNOWN_INPUT",
    ]


def test_a_misspelt_name_is_answered_with_the_nearest_one() -> None:
    found = PLAIN.current(evolve(LOOKUP, integration_key="INVENTORY_LOKUP"))
    assert isinstance(found, tuple)
    assert found[0].suggestion == "Did you mean INVENTORY_LOOKUP?"


def test_registering_documents_can_be_published_without_a_document_service() -> None:
    contract = contract_of(DeployedCatalogue(), register())
    assert contract == REGISTER_DOCUMENT_CONTRACT
    assert contract.registers_document


def test_the_document_service_sets_budget_and_retry_and_not_the_meaning() -> None:
    service = {"endpoint": "inventory", "timeouts": {"budgetSeconds": 20}, "retry": {"attemptsMax": 7}}
    contract = contract_of(deployed(catalogue_file(documentService=service)), register())
    assert (contract.budget_seconds, contract.retry.attempts_max) == (20, 7)
    assert contract.checksum == REGISTER_DOCUMENT_CONTRACT.checksum


def test_a_host_can_add_types_of_its_own() -> None:
    own = ActionContract(
        action_type="STAMP",
        contract_version=1,
        checksum=Sha256Hex("0" * 64),
        effect=Effect.READ_ONLY,
        input_schema={"type": "object"},
        output_schema={"type": "object"},
    )
    catalogue = DeployedCatalogue(
        extra_actions=(built_in_action(own, configuration_schema={"type": "object"}),)
    )
    assert set(catalogue.action_types()) == {"INVOKE_INTEGRATION", "REGISTER_DOCUMENT", "STAMP"}
    assert catalogue.current(ActionDefinition(id=ActionKey("a"), type="STAMP")) == own
    assert catalogue.pinned(pin_of(own)) == own


def test_a_pin_gives_exactly_the_pinned_version_beside_a_newer_one() -> None:
    old = contract_of(PLAIN, LOOKUP)
    newer = deployed(catalogue_file(lookup_integration(), lookup_integration(contractVersion=2)))
    assert newer.pinned(pin_of(old)) == old
    assert contract_of(newer, LOOKUP).contract_version == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"effect": "NON_IDEMPOTENT_WRITE"},
        {"outputSchema": {"type": "object"}},
        {"answers": {"404": {"kind": "retryable"}}},
        {"providerReference": "/id"},
        {"request": {**lookup_integration()["request"], "path": "/things/{item}"}},
    ],
)
def test_another_meaning_under_the_same_version_is_not_what_was_pinned(changes: dict[str, Any]) -> None:
    pin = pin_of(contract_of(PLAIN, LOOKUP))
    assert deployed(catalogue_file(lookup_integration(**changes))).pinned(pin) is None


def test_addresses_secrets_timeouts_and_retries_may_change_under_a_pin() -> None:
    pin = pin_of(contract_of(PLAIN, LOOKUP))
    changed = catalogue_file(
        lookup_integration(
            endpoint="moved",
            title="Moved",
            timeouts={"budgetSeconds": 20},
            retry={"attemptsMax": 9},
            answerBytesMax=10,
        ),
        endpoints={
            "moved": {
                "baseUrl": "https://moved.test",
                "authentication": {"kind": "bearer", "secret": {"env": "TOKEN"}},
            }
        },
    )
    found = deployed(changed, environment={"TOKEN": "secret"}).pinned(pin)
    assert found is not None
    assert (found.checksum, found.retry.attempts_max) == (pin.checksum, 9)


def test_a_pinned_profile_version_stays_beside_a_newer_one_and_is_missed_once_it_is_gone() -> None:
    def catalogue(*versions: int) -> DeployedCatalogue:
        profiles = [{"profile": "TOOLS", "profileVersion": version} for version in versions]
        return deployed(catalogue_file(lookup_integration(profiles=profiles)))

    pinned = contract_of(catalogue(1), evolve(LOOKUP, profile="TOOLS"))
    assert catalogue(1, 2).pinned(pin_of(pinned)) == pinned
    assert catalogue(2).pinned(pin_of(pinned)) is None
    assert catalogue().pinned(pin_of(pinned)) is None


def test_pins_that_name_nothing_deployed_are_missed() -> None:
    pin = pin_of(contract_of(PLAIN, LOOKUP))
    assert DeployedCatalogue().pinned(pin) is None
    assert PLAIN.pinned(evolve(pin, contract_version=2)) is None
    assert PLAIN.pinned(evolve(pin, action_type="STAMP")) is None
    assert PLAIN.pinned(evolve(pin, action_type="REGISTER_DOCUMENT", contract_version=2)) is None


def test_a_route_is_found_for_exactly_the_contract_that_is_deployed() -> None:
    contract = contract_of(PLAIN, LOOKUP)
    route = PLAIN.route_for(contract)
    assert route is not None
    assert route.request.path == "/items/{item}"
    assert PLAIN.route_for(evolve(contract, contract_version=2)) is None
    assert PLAIN.route_for(REGISTER_DOCUMENT_CONTRACT) is None


def test_a_budget_that_could_outlive_the_lease_is_found() -> None:
    content: JsonObject = catalogue_file(
        lookup_integration(), documentService={"endpoint": "inventory", "timeouts": {"budgetSeconds": 40}}
    )
    catalogue = deployed(content)
    assert catalogue.check_against_lease(60) == ()
    assert [fault.pointer for fault in catalogue.check_against_lease(30)] == [
        "/documentService/timeouts/budgetSeconds"
    ]
    assert [fault.code for fault in catalogue.check_against_lease(16)] == ["BUDGET_ABOVE_LEASE"] * 2


def test_a_budget_that_is_not_written_is_a_fault_of_the_entry_that_lacks_it() -> None:
    catalogue = deployed(catalogue_file(lookup_integration()))
    (fault,) = catalogue.check_against_lease(16)
    assert fault.pointer == "/integrations/0"
    assert "timeouts.budgetSeconds" in fault.message
