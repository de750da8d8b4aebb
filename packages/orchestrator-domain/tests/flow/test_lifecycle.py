"""DRAFT → PUBLISHED → RETIRED, and no other way."""

import pytest
from attrs import evolve

from orchestrator_domain.errors import FlowNotDraft, FlowNotPublished
from orchestrator_domain.flow.lifecycle import FlowStatus, RequestType, StoredFlow
from orchestrator_domain.identifiers import Revision
from orchestrator_domain.testing.examples import (
    TYPE_KEY,
    draft_flow,
    flow_document,
    lookup_contract,
    pinned_contract,
    published,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

DRAFT = draft_flow(SequentialIdentifiers())
PUBLISHED = published(DRAFT)
RETIRED = PUBLISHED.retired()


def test_an_edit_replaces_the_document_and_bumps_the_revision() -> None:
    document = flow_document(version=2)
    assert DRAFT.edited(document) == evolve(DRAFT, document=document, revision=Revision(1))


def test_publication_adds_checksum_and_contracts_and_keeps_the_document() -> None:
    assert (PUBLISHED.status, PUBLISHED.revision) == (FlowStatus.PUBLISHED, 1)
    assert PUBLISHED.contracts == (pinned_contract(lookup_contract()),)
    assert PUBLISHED.checksum is not None
    assert PUBLISHED.document == DRAFT.document


def test_retirement_closes_the_version_and_keeps_everything_else() -> None:
    assert evolve(PUBLISHED, status=FlowStatus.RETIRED, revision=Revision(2)) == RETIRED


@pytest.mark.parametrize("flow", [PUBLISHED, RETIRED])
def test_a_version_is_edited_and_published_only_as_a_draft(flow: StoredFlow) -> None:
    with pytest.raises(FlowNotDraft):
        flow.edited({})
    with pytest.raises(FlowNotDraft):
        published(flow)


@pytest.mark.parametrize("flow", [DRAFT, RETIRED])
def test_only_a_published_version_is_retired(flow: StoredFlow) -> None:
    with pytest.raises(FlowNotPublished):
        flow.retired()


def test_a_request_type_changes_one_member_at_a_time() -> None:
    first = RequestType(key=TYPE_KEY, active_flow=None, enabled=True, revision=Revision(0))
    assert first.activated(DRAFT.id) == evolve(first, active_flow=DRAFT.id, revision=Revision(1))
    assert first.switched(enabled=False) == evolve(first, enabled=False, revision=Revision(1))
