"""From a draft to its publication."""

from asyncio import gather
from collections.abc import Awaitable, Callable

import pytest
from attrs import evolve
from tests.plugins.embedded_service import AUTHOR, EmbeddedService, go

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    DuplicateFlowVersion,
    FlowInvalid,
    FlowNotDraft,
    FlowNotPublished,
    FlowRetired,
    NotFound,
    RevisionMismatch,
)
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import CorrelationId, FlowId, Revision, Role
from orchestrator_domain.ports.flow_store import FlowFilter
from orchestrator_domain.request.acceptance import AnyRevision, Precondition, RevisionIn
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document, chain_pin
from orchestrator_domain.testing.examples import CLERK

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


async def test_each_act_is_kept_with_checksums_before_and_after_and_the_correlation_id(
    service: EmbeddedService,
) -> None:
    trace = CorrelationId("trace-1")
    draft = await service.author.create_draft(chain_document(), EDITOR, correlation_id=trace)
    await edit(service, draft.id, TITLED, correlation_id=trace)
    await service.author.publish(draft.id, PUBLISHER, correlation_id=trace)
    await service.author.retire(draft.id, ADMIN, correlation_id=trace)
    facts = await service.harness.admin_facts()
    first, last = sha256_hex(chain_document()), sha256_hex(TITLED)
    assert [(fact.action, fact.detail["checksumBefore"], fact.detail["checksum"]) for fact in facts] == [
        ("FLOW_CREATED", None, first),
        ("FLOW_EDITED", first, last),
        ("FLOW_PUBLISHED", last, last),
        ("FLOW_RETIRED", last, last),
    ]
    assert {(fact.correlation_id, fact.flow_id) for fact in facts} == {("trace-1", draft.id)}


TITLED: JsonObject = {**chain_document(), "title": "Chain"}


async def edit(
    service: EmbeddedService,
    flow_id: FlowId,
    document: JsonObject,
    *,
    tag: str | None = None,
    actor: Actor = EDITOR,
    correlation_id: CorrelationId | None = None,
) -> StoredFlow:
    precondition: Precondition = AnyRevision() if tag is None else RevisionIn(tags=(tag,))
    return await service.author.edit(
        flow_id, document, precondition=precondition, actor=actor, correlation_id=correlation_id
    )


async def test_an_edit_replaces_the_document_under_the_next_revision(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    edited = await edit(service, draft.id, TITLED, tag="0")
    assert edited == evolve(draft, document=TITLED, revision=Revision(1))
    assert await service.author.find(draft.id, EDITOR) == edited
    assert (await service.author.publish(draft.id, PUBLISHER)).checksum == sha256_hex(TITLED)


async def test_an_edit_from_a_revision_that_moved_is_refused(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    edited = await edit(service, draft.id, TITLED, tag="0")
    with pytest.raises(RevisionMismatch) as stale:
        await edit(service, draft.id, chain_document(), tag="0")
    assert stale.value.current == 1
    assert await service.author.find(draft.id, EDITOR) == edited


async def test_of_two_edits_at_once_from_one_revision_one_wins(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    results = await gather(
        *(edit(service, draft.id, {**TITLED, "title": title}, tag="0") for title in ("First", "Second")),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["RevisionMismatch", "StoredFlow"]


async def test_of_an_edit_and_a_publication_at_once_the_published_document_is_the_one_last_written(
    service: EmbeddedService,
) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    await gather(
        edit(service, draft.id, TITLED),
        service.author.publish(draft.id, PUBLISHER),
        return_exceptions=True,
    )
    stored = await service.author.find(draft.id, EDITOR)
    assert stored.status is FlowStatus.PUBLISHED
    assert stored.checksum == sha256_hex(stored.document)


@pytest.mark.parametrize("tag", ["0", "1", None], ids=["stale", "current", "any"])
async def test_what_was_published_is_not_edited_whatever_its_tag(
    service: EmbeddedService, tag: str | None
) -> None:
    published = await service.published()
    with pytest.raises(FlowNotDraft):
        await edit(service, published.id, TITLED, tag=tag)
    retired = await service.author.retire(published.id, ADMIN)
    with pytest.raises(FlowNotDraft):
        await edit(service, published.id, TITLED, tag=tag)
    assert await service.author.find(published.id, EDITOR) == retired


async def test_a_draft_keeps_its_key_and_version(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    with pytest.raises(FlowInvalid) as refusal:
        await edit(service, draft.id, {**TITLED, "flowKey": "OTHER", "version": 2})
    assert [(finding.code, finding.pointer, finding.suggestion) for finding in refusal.value.findings] == [
        ("IDENTITY_CHANGED", "/flowKey", "Use CHAIN."),
        ("IDENTITY_CHANGED", "/version", "Use 1."),
    ]
    assert await service.author.find(draft.id, EDITOR) == draft


async def test_an_edit_to_what_is_no_flow_is_refused_with_its_findings(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    with pytest.raises(FlowInvalid) as refusal:
        await edit(service, draft.id, {**chain_document(), "invented": 1})
    assert [finding.pointer for finding in refusal.value.findings] == ["/invented"]


async def test_retiring_closes_a_version_and_its_requests_go_on(service: EmbeddedService) -> None:
    flow = await service.activated(chain_document(()))
    request = await service.created()
    retired = await service.author.retire(flow.id, ADMIN, precondition=RevisionIn(tags=("1",)))
    assert retired == evolve(flow, status=FlowStatus.RETIRED, revision=Revision(2))
    with pytest.raises(FlowRetired):
        await service.created(key="create-2")
    await service.accept(go(request.id), CLERK)
    await service.run()
    assert (await service.seen(request.id)).state != request.state


async def test_retiring_again_answers_the_same_and_keeps_no_second_fact(service: EmbeddedService) -> None:
    flow = await service.published()
    retired = await service.author.retire(flow.id, ADMIN)
    facts = list(await service.harness.admin_facts())
    again = await service.author.retire(flow.id, ADMIN, precondition=RevisionIn(tags=("1",)))
    assert again == retired
    assert list(await service.harness.admin_facts()) == facts


async def test_a_draft_is_not_retired(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    with pytest.raises(FlowNotPublished):
        await service.author.retire(draft.id, ADMIN)


async def test_a_retirement_may_name_the_revision_that_was_read(service: EmbeddedService) -> None:
    flow = await service.published()
    with pytest.raises(RevisionMismatch) as stale:
        await service.author.retire(flow.id, ADMIN, precondition=RevisionIn(tags=("0",)))
    assert stale.value.current == 1
    assert await service.author.find(flow.id, ADMIN) == flow


async def test_versions_are_listed_page_by_page(service: EmbeddedService) -> None:
    flows = [await service.published({**chain_document(), "version": version}) for version in (1, 2, 3)]
    first = await service.author.list_versions(AUDITOR, limit=2)
    assert first.items == (flows[0].summary, flows[1].summary)
    rest = await service.author.list_versions(AUDITOR, after=first.last, limit=2)
    assert (rest.items, rest.last) == ((flows[2].summary,), None)
    whole = await service.author.list_versions(AUDITOR, limit=3)
    assert (len(whole.items), whole.last) == (3, None)
    none = await service.author.list_versions(AUDITOR, matching=FlowFilter(status=FlowStatus.DRAFT))
    assert (none.items, none.last) == ((), None)


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


async def test_of_two_publications_at_once_one_wins(service: EmbeddedService) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    tag = RevisionIn(tags=("0",))
    results = await gather(
        service.author.publish(draft.id, PUBLISHER, precondition=tag),
        service.author.publish(draft.id, PUBLISHER, precondition=tag),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["FlowNotDraft", "StoredFlow"]
    assert len(await service.harness.admin_facts()) == 2


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
    "edit": (lambda service, flow, actor: edit(service, flow, TITLED, actor=actor), {"FLOW_EDITOR"}),
    "list": (
        lambda service, _, actor: service.author.list_versions(actor),
        {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"},
    ),
    "publish": (lambda service, flow, actor: service.author.publish(flow, actor), {"FLOW_PUBLISHER"}),
    "retire": (lambda service, flow, actor: service.author.retire(flow, actor), {"FLOW_ADMIN"}),
}


@pytest.mark.parametrize("actor", [EDITOR, PUBLISHER, ADMIN, AUDITOR, NOBODY])
@pytest.mark.parametrize("act", ACTS)
async def test_each_act_needs_its_own_permission(service: EmbeddedService, act: str, actor: Actor) -> None:
    draft = await service.author.create_draft(chain_document(), EDITOR)
    perform, allowed = ACTS[act]
    if act == "retire":
        await service.author.publish(draft.id, PUBLISHER)
    facts = len(await service.harness.admin_facts())
    if actor.roles & allowed:
        await perform(service, draft.id, actor)
        return
    with pytest.raises(AccessDenied):
        await perform(service, draft.id, actor)
    assert len(await service.harness.admin_facts()) == facts


@pytest.mark.parametrize("act", ["find", "validate", "edit", "publish", "retire"])
async def test_an_unknown_flow_is_not_found(service: EmbeddedService, act: str) -> None:
    with pytest.raises(NotFound):
        await ACTS[act][0](service, FlowId(service.identifiers.uuid()), AUTHOR)
