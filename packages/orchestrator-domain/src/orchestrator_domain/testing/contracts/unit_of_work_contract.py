"""What the port UnitOfWork promises."""

import asyncio

import pytest

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.errors import DuplicateFlowVersion, InvalidEvent, OrchestratorError
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases, creation_of
from orchestrator_domain.testing.examples import CLERK, admin_fact, request_of, request_type


class UnitOfWorkContract:
    async def test_what_a_story_wrote_is_there_when_run_returns(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        assert (await cases.seen(request.id)).request == request

    async def test_run_returns_what_the_story_returns(self, harness: StoreHarness) -> None:
        async def story(transaction: Transaction) -> int:
            return len(await transaction.flows.list_versions())

        assert await harness.unit_of_work().run(story) == 0

    async def test_an_error_of_the_story_reaches_the_caller_as_it_is(self, harness: StoreHarness) -> None:
        error = InvalidEvent("No transition leaves this state with this event.")

        async def story(transaction: Transaction) -> None:
            await transaction.flows.list_versions()
            raise error

        with pytest.raises(InvalidEvent) as caught:
            await harness.unit_of_work().run(story)
        assert caught.value is error

    async def test_nothing_of_a_story_that_raises_is_stored(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.active_flow()
        facts = list(await harness.admin_facts())
        request = request_of(flow, cases.identifiers)

        async def story(transaction: Transaction) -> None:
            await transaction.requests.reserve_creation(creation_of(request))
            await transaction.requests.add(request, cases.fact(request, AuditKind.REQUEST_CREATED))
            await transaction.flows.save(flow.retired(), before=flow.revision, fact=admin_fact("RETIRED"))
            raise InvalidEvent("The story ends here.")

        with pytest.raises(InvalidEvent):
            await harness.unit_of_work().run(story)
        assert await cases.visible(request.id, CLERK) is None
        assert not await harness.history(request.id)
        assert list(await harness.admin_facts()) == facts
        assert await cases.stored_flow(flow.id) == flow

    async def test_an_error_of_a_store_undoes_what_the_story_had_written(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.draft()
        edited = flow.edited({**flow.document, "title": "Lending"})

        async def story(transaction: Transaction) -> None:
            await transaction.flows.save(edited, before=flow.revision, fact=admin_fact("FLOW_EDITED"))
            await transaction.flows.add(flow, admin_fact("FLOW_CREATED"))

        with pytest.raises(DuplicateFlowVersion):
            await harness.unit_of_work().run(story)
        assert await cases.stored_flow(flow.id) == flow

    async def test_a_key_that_a_failed_story_reserved_is_free_again(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = request_of(await cases.active_flow(), cases.identifiers)

        async def failing(transaction: Transaction) -> None:
            await transaction.requests.reserve_creation(creation_of(request, key="create-1"))
            raise InvalidEvent("The story ends here.")

        with pytest.raises(InvalidEvent):
            await harness.unit_of_work().run(failing)
        assert await cases.reserved(request, key="create-1") is None

    async def test_stories_that_change_the_same_row_at_once_all_take_effect(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        draft = await cases.draft()

        async def story(transaction: Transaction) -> StoredFlow:
            stored = await transaction.flows.lock(draft.id)
            assert stored is not None
            await asyncio.sleep(0)
            edits = stored.document.get("edits", 0)
            assert isinstance(edits, int)
            edited = stored.edited({**stored.document, "edits": edits + 1})
            return await transaction.flows.save(
                edited, before=stored.revision, fact=admin_fact("FLOW_EDITED", flow_id=draft.id)
            )

        await asyncio.gather(*(harness.unit_of_work().run(story) for _ in range(3)))
        last = await cases.stored_flow(draft.id)
        assert last is not None
        assert (last.revision, last.document["edits"]) == (3, 3)
        assert [fact.action for fact in await harness.admin_facts()].count("FLOW_EDITED") == 3

    async def test_a_story_that_loses_a_race_for_a_key_leaves_nothing_behind(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.published_flow()

        async def story(transaction: Transaction) -> bool:
            added = await transaction.request_types.add(request_type(flow), admin_fact("FLOW_ACTIVATED"))
            await asyncio.sleep(0)
            if not added:
                raise InvalidEvent("The type was there already.")
            return added

        outcomes = await asyncio.gather(
            *(harness.unit_of_work().run(story) for _ in range(2)), return_exceptions=True
        )
        assert sorted(isinstance(outcome, OrchestratorError) for outcome in outcomes) == [False, True]
        assert [fact.action for fact in await harness.admin_facts()].count("FLOW_ACTIVATED") == 1
