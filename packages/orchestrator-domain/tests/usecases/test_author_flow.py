"""From a draft to its publication."""

from collections.abc import Awaitable, Callable

import pytest
from attrs import evolve
from tests.plugins.embedded_service import AUTHOR, EmbeddedService

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    DuplicateFlowVersion,
    FlowInvalid,
    FlowNotDraft,
    NotFound,
    RevisionMismatch,
)
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus
from orchestrator_domain.identifiers import FlowId, Role
from orchestrator_domain.request.acceptance import RevisionIn
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document, chain_pin

EDITOR, PUBLISHER, ADMIN, AUDITOR, NOBODY = (
    evolve(AUTHOR, roles=frozenset(Role(role) for role in roles))
    for roles in (["FLOW_EDITOR"], ["FLOW_PUBLISHER"], ["FLOW_ADMIN"], ["AUDITOR"], ["CLERK"])
)


@pytest.fixture
def service() -> EmbeddedService:
    return EmbeddedService()


async def test_a_draft_keeps_its_document_as_it_was_written(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    assert (draft.status, draft.flow_key, draft.version, draft.revision) == (FlowStatus.DRAFT, "CHAIN", 1, 0)
    assert (draft.document, draft.checksum, draft.created_by) == (chain_document(), None, "author-1")
    assert await service.author.find(draft.id, AUDITOR) == draft


async def test_a_document_that_is_no_flow_is_refused_with_its_findings(service: EmbeddedService) -> None:
    with pytest.raises(FlowInvalid) as refusal:
        await service.author.create_draft({**chain_document(), "invented": 1}, EDITOR)
    assert [finding.pointer for finding in refusal.value.findings] == ["/invented"]
    assert not service.harness.store.flows.rows


async def test_key_and_version_are_unique(service: EmbeddedService) -> None:
    await service.author.create_draft(chain_document(), EDITOR)
    with pytest.raises(DuplicateFlowVersion):
        await service.author.create_draft(chain_document(()), EDITOR)
    await service.author.create_draft({**chain_document(), "version": 2}, EDITOR)


async def test_publication_fixes_checksum_and_contracts(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    published = await service.author.publish(draft.id, PUBLISHER)
    assert published.status is FlowStatus.PUBLISHED
    assert published.checksum == sha256_hex(chain_document())
    contracts = service.catalogue.contracts
    assert published.contracts == tuple(chain_pin(action, contracts[action]) for action in CHAIN_ACTIONS)
    assert published.published_at is not None


async def test_each_act_is_kept_with_who_did_it(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    await service.author.publish(draft.id, PUBLISHER)
    facts = await service.harness.admin_facts()
    assert [(fact.action, fact.actor, fact.flow_id) for fact in facts] == [
        ("FLOW_CREATED", "author-1", draft.id),
        ("FLOW_PUBLISHED", "author-1", draft.id),
    ]
    assert facts[1].detail["checksum"] == sha256_hex(chain_document())


def _unsound() -> JsonObject:
    document = chain_document()
    return {**document, "states": [*_list(document["states"]), {"key": "NOWHERE", "terminal": False}]}


def _list(value: object) -> list[JsonObject]:
    assert isinstance(value, list)
    return value


async def test_an_unsound_draft_is_validated_with_findings_and_never_published(
    service: EmbeddedService,
) -> None:
    draft = await service.author.create_draft(_unsound(), EDITOR)
    report = await service.author.validate(draft.id, EDITOR)
    assert not report.publishable
    with pytest.raises(FlowInvalid) as refusal:
        await service.author.publish(draft.id, PUBLISHER)
    assert refusal.value.findings == report.findings
    assert (await service.author.find(draft.id, EDITOR)).status is FlowStatus.DRAFT


async def test_a_flow_whose_integration_is_unknown_is_not_published(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    service.catalogue = service.catalogue.without(CHAIN_ACTIONS[1])
    with pytest.raises(FlowInvalid) as refusal:
        await service.author.publish(draft.id, PUBLISHER)
    assert {finding.code for finding in refusal.value.findings} >= {"UNKNOWN_INTEGRATION"}


async def test_a_version_is_published_once(service: EmbeddedService) -> None:
    published = await service.published()
    with pytest.raises(FlowNotDraft):
        await service.author.publish(published.id, PUBLISHER)


async def test_a_publication_may_name_the_revision_that_was_read(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    with pytest.raises(RevisionMismatch) as stale:
        await service.author.publish(draft.id, PUBLISHER, precondition=RevisionIn(tags=("7",)))
    assert stale.value.current == 0
    await service.author.publish(draft.id, PUBLISHER, precondition=RevisionIn(tags=("0",)))


type Act = Callable[[EmbeddedService, FlowId, Actor], Awaitable[object]]

ACTS: dict[str, tuple[Act, set[str]]] = {
    "create": (
        lambda service, _, actor: service.author.create_draft({**chain_document(), "version": 2}, actor),
        {"FLOW_EDITOR"},
    ),
    "find": (
        lambda service, flow, actor: service.author.find(flow, actor),
        {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"},
    ),
    "validate": (
        lambda service, flow, actor: service.author.validate(flow, actor),
        {"FLOW_EDITOR", "FLOW_PUBLISHER"},
    ),
    "publish": (lambda service, flow, actor: service.author.publish(flow, actor), {"FLOW_PUBLISHER"}),
}


@pytest.mark.parametrize("actor", [EDITOR, PUBLISHER, ADMIN, AUDITOR, NOBODY])
@pytest.mark.parametrize("act", ACTS)
async def test_each_act_needs_its_own_permission(service: EmbeddedService, act: str, actor: Actor) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    perform, allowed = ACTS[act]
    if actor.roles & allowed:
        await perform(service, draft.id, actor)
        return
    with pytest.raises(AccessDenied):
        await perform(service, draft.id, actor)
    assert len(await service.harness.admin_facts()) == 1


@pytest.mark.parametrize("act", ["find", "validate", "publish"])
async def test_an_unknown_flow_is_not_found(service: EmbeddedService, act: str) -> None:
    with pytest.raises(NotFound):
        await ACTS[act][0](service, FlowId(service.identifiers.uuid()), AUTHOR)
