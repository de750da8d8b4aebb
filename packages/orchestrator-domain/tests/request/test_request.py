"""The moves of a request: each is visible as a new revision."""

from attrs import evolve

from orchestrator_domain.identifiers import Revision, StateKey
from orchestrator_domain.testing.examples import draft_flow, published, request_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

IDENTIFIERS = SequentialIdentifiers()
REQUEST = request_of(published(draft_flow(IDENTIFIERS)), IDENTIFIERS)


def test_acceptance_and_release_change_the_revision_alone() -> None:
    assert REQUEST.accepted() == REQUEST.released() == evolve(REQUEST, revision=Revision(1))


def test_a_transition_changes_state_data_and_revision() -> None:
    moved = REQUEST.transitioned(state=StateKey("LENT"), data={"item": "saw"})
    assert moved == evolve(REQUEST, state=StateKey("LENT"), data={"item": "saw"}, revision=Revision(1))
