"""A deployment is held to the meaning that flows were published with."""

from attrs import evolve

from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.flow.pinned_meaning import ContractNamedBy, PinnedFlow, deviations
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.testing.examples import draft_flow, lookup_contract, pinned_contract
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

DRAFT = draft_flow(SequentialIdentifiers())
FIRST, SECOND = lookup_contract(version=1), lookup_contract(version=2)


def flow(*contracts: ActionContract) -> PinnedFlow:
    """Return a flow whose actions are pinned to these contracts."""
    pins = (
        evolve(pinned_contract(contract), action=ActionKey(f"lookup-{number}"))
        for number, contract in enumerate(contracts)
    )
    return PinnedFlow(id=DRAFT.id, flow_key=DRAFT.flow_key, version=DRAFT.version, contracts=tuple(pins))


def deployed(*contracts: ActionContract) -> ContractNamedBy:
    by_version = {contract.contract_version: contract for contract in contracts}

    def named_by(pin: PinnedContract) -> ActionContract | None:
        return by_version.get(pin.contract_version)

    return named_by


def test_a_deployment_that_has_what_was_pinned_deviates_in_nothing() -> None:
    found = deviations([flow(FIRST), flow(SECOND, FIRST)], deployed(FIRST, SECOND))
    assert (found.changed, found.missing) == ((), ())


def test_another_meaning_under_the_pinned_version_is_a_change() -> None:
    pinned = flow(FIRST, SECOND)
    found = deviations([pinned], deployed(lookup_contract(effect=Effect.IDEMPOTENT_WRITE), SECOND))
    assert [(each.flow, each.pin) for each in found.changed] == [(pinned, pinned.contracts[0])]
    assert found.missing == ()


def test_a_version_that_is_not_deployed_is_missing_and_no_change() -> None:
    pinned = flow(FIRST, SECOND)
    found = deviations([pinned], deployed(SECOND))
    assert [(each.flow, each.pin) for each in found.missing] == [(pinned, pinned.contracts[0])]
    assert found.changed == ()


def test_a_flow_without_actions_deviates_in_nothing_under_an_empty_catalogue() -> None:
    assert deviations([flow()], deployed()) == deviations([], deployed())
