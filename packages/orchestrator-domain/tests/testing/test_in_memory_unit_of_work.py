"""The in-memory implementation of UnitOfWork keeps what the port promises, and runs stories again by itself."""

import pytest

from orchestrator_domain.errors import RevisionMismatch, StorageUnavailable
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.event_judgement_contract import EventJudgementContract
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.contracts.unit_of_work_contract import UnitOfWorkContract
from orchestrator_domain.testing.examples import CLERK, admin_fact
from orchestrator_domain.testing.in_memory.unit_of_work import InMemoryUnitOfWork
from orchestrator_domain.testing.scripted_handlers import SimulatedCrash


class TestInMemoryUnitOfWork(UnitOfWorkContract):
    """Runs the shared suite; `harness` is the in-memory one."""


class TestInMemoryEventJudgement(EventJudgementContract):
    """Runs the shared suite; each event is a story of its own here."""


async def test_a_story_runs_again_when_what_it_read_was_changed_meanwhile(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    draft = await cases.draft()
    seen: list[int] = []

    async def story(transaction: Transaction) -> StoredFlow:
        stored = await transaction.flows.find(draft.id)
        assert stored is not None
        if not seen:
            await _edit(harness, draft)
        seen.append(stored.revision)
        edited = stored.edited({**stored.document, "title": "Mine"})
        return await transaction.flows.save(edited, before=stored.revision, fact=admin_fact("EDITED"))

    assert (await harness.unit_of_work().run(story)).revision == 2
    assert seen == [0, 1]


async def test_a_refusal_that_rests_on_what_has_changed_meanwhile_is_judged_again(
    harness: InMemoryHarness,
) -> None:
    cases = StoredCases(harness=harness)
    draft = await cases.draft()
    runs: list[int] = []

    async def story(transaction: Transaction) -> int:
        stored = await transaction.flows.find(draft.id)
        assert stored is not None
        runs.append(stored.revision)
        if len(runs) == 1:
            await _edit(harness, draft)
        if stored.revision == 0:
            raise RevisionMismatch("The flow has not been edited yet.", current=stored.revision)
        return stored.revision

    assert await harness.unit_of_work().run(story) == 1
    assert runs == [0, 1]


async def test_a_listing_counts_as_read(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    counts: list[int] = []

    async def story(transaction: Transaction) -> int:
        counts.append(len(await transaction.flows.list_versions()))
        if len(counts) == 1:
            await cases.draft()
        return counts[-1]

    assert await harness.unit_of_work().run(story) == 1
    assert counts == [0, 1]


async def test_changes_that_a_story_did_not_read_do_not_make_it_run_again(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    request = await cases.request()
    runs: list[None] = []

    async def story(transaction: Transaction) -> None:
        runs.append(None)
        await transaction.requests.find_visible(request.id, CLERK)
        await cases.draft(version=2)

    await harness.unit_of_work().run(story)
    assert len(runs) == 1


async def test_a_story_that_always_loses_ends_after_a_bounded_number_of_tries(
    harness: InMemoryHarness,
) -> None:
    cases = StoredCases(harness=harness)
    draft = await cases.draft()
    runs: list[None] = []

    async def story(transaction: Transaction) -> None:
        runs.append(None)
        stored = await transaction.flows.find(draft.id)
        assert stored is not None
        await _edit(harness, stored)

    with pytest.raises(StorageUnavailable):
        await InMemoryUnitOfWork(harness.store, tries_max=3).run(story)
    assert len(runs) == 3


async def test_a_crash_inside_a_story_stores_nothing(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    draft = await cases.draft()

    async def story(transaction: Transaction) -> None:
        edited = draft.edited({**draft.document, "title": "Lost"})
        await transaction.flows.save(edited, before=draft.revision, fact=admin_fact("EDITED"))
        raise SimulatedCrash

    with pytest.raises(SimulatedCrash):
        await harness.unit_of_work().run(story)
    assert await cases.stored_flow(draft.id) == draft


async def _edit(harness: InMemoryHarness, stored: StoredFlow) -> None:
    async def story(transaction: Transaction) -> StoredFlow:
        edited = stored.edited({**stored.document, "title": "Theirs"})
        return await transaction.flows.save(edited, before=stored.revision, fact=admin_fact("EDITED"))

    await harness.unit_of_work().run(story)
