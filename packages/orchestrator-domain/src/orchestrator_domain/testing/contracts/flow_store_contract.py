"""What the port FlowStore promises."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.errors import DuplicateFlowVersion, OrchestratorError, RevisionMismatch
from orchestrator_domain.flow.lifecycle import FlowStatus, FlowSummary, StoredFlow
from orchestrator_domain.identifiers import FlowId, FlowKey, Revision, Sha256Hex
from orchestrator_domain.ports.flow_store import FlowFilter, FlowPosition
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import admin_fact, draft_flow, flow_document, published


class FlowStoreContract:
    async def test_a_draft_is_found_as_it_was_added(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        draft = await cases.draft()
        assert draft.created_at is not None
        assert (draft.status, draft.document) == (FlowStatus.DRAFT, flow_document())
        assert await cases.stored_flow(draft.id) == draft

    async def test_an_unknown_flow_is_none_however_it_is_asked_for(self, harness: StoreHarness) -> None:
        unknown = FlowId(StoredCases(harness=harness).identifiers.uuid())

        async def story(transaction: Transaction) -> list[StoredFlow | None]:
            flows = transaction.flows
            return [await read(unknown) for read in (flows.find, flows.lock_shared, flows.lock)]

        assert await harness.unit_of_work().run(story) == [None, None, None]

    async def test_a_locked_flow_reads_like_a_found_one(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.published_flow()

        async def story(transaction: Transaction) -> list[StoredFlow | None]:
            return [await transaction.flows.lock_shared(flow.id), await transaction.flows.lock(flow.id)]

        assert await harness.unit_of_work().run(story) == [flow, flow]

    async def test_a_version_that_exists_already_is_not_added_again(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        await cases.draft()
        facts = list(await harness.admin_facts())
        with pytest.raises(DuplicateFlowVersion):
            await cases.draft()
        assert list(await harness.admin_facts()) == facts

    async def test_other_versions_and_other_keys_are_added_beside_it(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        added = {
            (await cases.draft(flow_key=key, version=version)).id
            for key, version in (("LENDING", 1), ("LENDING", 2), ("RETURNS", 1))
        }

        async def story(transaction: Transaction) -> set[FlowId]:
            return {flow.id for flow in await transaction.flows.list_versions()}

        assert await harness.unit_of_work().run(story) == added

    async def test_versions_are_listed_by_code_points_of_the_key_and_then_by_number(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        named = [("b", 1), ("LENDING", 10), ("LENDING", 9), ("A_B", 1), ("A-B", 1), ("a", 1)]
        for key, version in named:
            await cases.draft(flow_key=key, version=version)
        everything = [(flow.flow_key, flow.version) for flow in await _listed(harness)]
        assert everything == sorted(named)

    async def test_a_listed_version_is_the_stored_one_without_its_documents(
        self, harness: StoreHarness
    ) -> None:
        flow = await StoredCases(harness=harness).published_flow()
        assert list(await _listed(harness)) == [flow.summary]

    async def test_the_list_goes_on_behind_a_position_whether_it_exists_or_not(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        for key, version in (("B", 1), ("B", 3), ("D", 1)):
            await cases.draft(flow_key=key, version=version)
        behind = {
            ("A", 9): [("B", 1), ("B", 3)],
            ("B", 1): [("B", 3), ("D", 1)],
            ("B", 2): [("B", 3), ("D", 1)],
            ("C", 1): [("D", 1)],
            ("D", 1): [],
        }
        for (key, version), expected in behind.items():
            after = FlowPosition(flow_key=FlowKey(key), version=version)
            found = await _listed(harness, after=after, limit=2)
            assert [(flow.flow_key, flow.version) for flow in found] == expected

    async def test_the_list_keeps_to_its_filter(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        await cases.draft(version=1)
        await cases.published_flow(version=2)
        await cases.published_flow(flow_key="RETURNS")
        filters = {
            FlowFilter(flow_key=FlowKey("LENDING")): [("LENDING", 1), ("LENDING", 2)],
            FlowFilter(status=FlowStatus.PUBLISHED): [("LENDING", 2), ("RETURNS", 1)],
            FlowFilter(flow_key=FlowKey("LENDING"), status=FlowStatus.DRAFT): [("LENDING", 1)],
            FlowFilter(status=FlowStatus.RETIRED): [],
            FlowFilter(flow_key=FlowKey("lending")): [],
        }
        for matching, expected in filters.items():
            found = await _listed(harness, matching=matching)
            assert [(flow.flow_key, flow.version) for flow in found] == expected

    async def test_an_edited_draft_is_stored_with_its_new_revision(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        draft = await cases.draft()
        edited = draft.edited({**draft.document, "title": "Lending"})
        saved = await _saved(harness, edited, before=draft.revision)
        stored = await cases.stored_flow(draft.id)
        assert stored == saved == evolve(edited, created_at=draft.created_at)

    async def test_a_save_from_a_revision_that_moved_is_refused_and_names_the_current_one(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        draft = await cases.draft()
        first = await _saved(
            harness, draft.edited({**draft.document, "title": "First"}), before=draft.revision
        )
        facts = list(await harness.admin_facts())
        with pytest.raises(RevisionMismatch) as caught:
            await _saved(harness, draft.edited({**draft.document, "title": "Second"}), before=draft.revision)
        assert caught.value.current == first.revision
        assert await cases.stored_flow(draft.id) == first
        assert list(await harness.admin_facts()) == facts

    async def test_a_publication_is_stored_with_its_checksum_contracts_and_time(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.published_flow()
        assert flow.published_at is not None
        expected = published(evolve(flow, status=FlowStatus.DRAFT, revision=Revision(0)))
        assert (flow.checksum, flow.contracts) == (expected.checksum, expected.contracts)
        assert await cases.stored_flow(flow.id) == flow

    @pytest.mark.parametrize(
        "changes",
        [
            {"document": flow_document(version=7)},
            {"checksum": Sha256Hex("d" * 64)},
            {"contracts": ()},
            {"status": FlowStatus.DRAFT},
            {"version": 7},
            {"schema_version": 2},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    @pytest.mark.parametrize("going_to", ["published", "retired"])
    async def test_a_published_definition_does_not_change_whoever_asks(
        self, harness: StoreHarness, changes: dict[str, Any], going_to: str
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.published_flow()
        base = flow.retired() if going_to == "retired" else flow
        forged = evolve(base, revision=Revision(flow.revision + 1), **changes)
        with suppress(OrchestratorError):
            await _saved(harness, forged, before=flow.revision)
        stored = await cases.stored_flow(flow.id)
        assert stored is not None
        assert stored.status is not FlowStatus.DRAFT
        assert evolve(stored, status=flow.status, revision=flow.revision) == flow

    async def test_a_published_flow_can_be_retired_and_stays_readable(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.published_flow()
        await _saved(harness, flow.retired(), before=flow.revision)
        assert await cases.stored_flow(flow.id) == flow.retired()

    async def test_every_change_is_written_together_with_its_fact(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        draft = draft_flow(cases.identifiers)
        facts = [admin_fact(action, flow_id=draft.id) for action in ("FLOW_CREATED", "FLOW_PUBLISHED")]

        async def story(transaction: Transaction) -> None:
            added = await transaction.flows.add(draft, facts[0])
            await transaction.flows.save(published(added), before=added.revision, fact=facts[1])

        await harness.unit_of_work().run(story)
        assert list(await harness.admin_facts()) == facts


async def _saved(harness: StoreHarness, flow: StoredFlow, *, before: Revision) -> StoredFlow:
    async def story(transaction: Transaction) -> StoredFlow:
        return await transaction.flows.save(
            flow, before=before, fact=admin_fact("FLOW_SAVED", flow_id=flow.id)
        )

    return await harness.unit_of_work().run(story)


async def _listed(harness: StoreHarness, **asked: Any) -> Sequence[FlowSummary]:
    async def story(transaction: Transaction) -> Sequence[FlowSummary]:
        return await transaction.flows.list_versions(**asked)

    return await harness.unit_of_work().run(story)
