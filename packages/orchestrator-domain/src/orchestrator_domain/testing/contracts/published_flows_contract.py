"""What the port PublishedFlows promises."""

from attrs import evolve

from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import admin_fact, published


class PublishedFlowsContract:
    async def test_an_unknown_flow_is_none(self, harness: StoreHarness) -> None:
        unknown = FlowId(StoredCases(harness=harness).identifiers.uuid())
        assert await harness.published_flows().find(unknown) is None

    async def test_a_draft_is_none(self, harness: StoreHarness) -> None:
        draft = await StoredCases(harness=harness).draft()
        assert await harness.published_flows().find(draft.id) is None

    async def test_a_draft_that_was_asked_for_is_found_once_it_is_published(
        self, harness: StoreHarness
    ) -> None:
        draft = await StoredCases(harness=harness).draft()
        flows = harness.published_flows()
        assert await flows.find(draft.id) is None
        saved = await _saved(harness, published(draft), draft)
        assert await flows.find(draft.id) == saved

    async def test_a_published_flow_is_found_whole(self, harness: StoreHarness) -> None:
        flow = await StoredCases(harness=harness).published_flow()
        assert await harness.published_flows().find(flow.id) == flow

    async def test_a_retired_flow_is_found_by_a_reader_that_never_saw_it_published(
        self, harness: StoreHarness
    ) -> None:
        flow = await StoredCases(harness=harness).published_flow()
        await _saved(harness, flow.retired(), flow)
        assert await harness.published_flows().find(flow.id) == flow.retired()

    async def test_nothing_but_the_status_of_what_a_reader_found_ever_changes(
        self, harness: StoreHarness
    ) -> None:
        flow = await StoredCases(harness=harness).published_flow()
        flows = harness.published_flows()
        before = await flows.find(flow.id)
        await _saved(harness, flow.retired(), flow)
        after = await flows.find(flow.id)
        assert before == flow
        assert after is not None
        assert after.status in (FlowStatus.PUBLISHED, FlowStatus.RETIRED)
        assert evolve(after, status=flow.status, revision=flow.revision) == flow

    async def test_what_a_story_has_not_committed_yet_is_not_found(self, harness: StoreHarness) -> None:
        draft = await StoredCases(harness=harness).draft()
        flows = harness.published_flows()

        async def story(transaction: Transaction) -> StoredFlow | None:
            await transaction.flows.save(
                published(draft), before=draft.revision, fact=admin_fact("FLOW_PUBLISHED")
            )
            return await flows.find(draft.id)

        assert await harness.unit_of_work().run(story) is None


async def _saved(harness: StoreHarness, flow: StoredFlow, before: StoredFlow) -> StoredFlow:
    async def story(transaction: Transaction) -> StoredFlow:
        return await transaction.flows.save(flow, before=before.revision, fact=admin_fact("FLOW_SAVED"))

    return await harness.unit_of_work().run(story)
