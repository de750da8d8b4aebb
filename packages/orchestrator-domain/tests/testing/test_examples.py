"""The example flow is a whole one: it can be read, published and run."""

import pytest

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.ready import ready_flow
from orchestrator_domain.flow.soundness import FlowSoundness, pin_contracts
from orchestrator_domain.identifiers import EventKey, StateKey
from orchestrator_domain.testing.examples import (
    draft_flow,
    execution_of,
    flow_document,
    lookup_contract,
    published,
    request_of,
)
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers


def test_the_example_flow_may_be_published() -> None:
    catalogue = FixedCatalogue([lookup_contract()])
    report = FlowSoundness(resolve_contract=catalogue.current).validate(flow_document())
    assert report.errors == ()


@pytest.mark.parametrize("effect", Effect)
def test_the_pins_of_the_example_are_those_that_its_publication_leaves(effect: Effect) -> None:
    catalogue = FixedCatalogue([lookup_contract(effect=effect)])
    flow = published(draft_flow(SequentialIdentifiers()), effect=effect)
    definition = ready_flow(flow).definition
    assert pin_contracts(definition, catalogue.current) == flow.contracts
    assert [catalogue.pinned(pin) for pin in flow.contracts] == [lookup_contract(effect=effect)]


def test_the_checksum_of_the_example_is_that_of_its_document() -> None:
    flow = published(draft_flow(SequentialIdentifiers(), version=3))
    assert flow.checksum == sha256_hex(flow_document(version=3))


def test_a_request_of_the_example_takes_the_event_that_its_execution_runs() -> None:
    identifiers = SequentialIdentifiers()
    ready = ready_flow(published(draft_flow(identifiers)))
    request = request_of(published(draft_flow(identifiers)), identifiers)
    execution = execution_of(request.accepted(), identifiers)
    transition = ready.definition.transition_for(StateKey("OPEN"), EventKey("CHECK"))
    assert transition is not None
    assert (transition.id, transition.from_state) == (execution.transition, request.state)
    assert ready.creation_violations(request.data) == ()
    assert ready.event_violations(request.state, execution.event, execution.event_data) == ()
