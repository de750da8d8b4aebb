"""The in-memory queue keeps what the port promises, by the store's clock alone."""

from attrs import evolve

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.completion import Completion, DocumentLink
from orchestrator_domain.identifiers import StateKey
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.completing_contract import PHOTO
from orchestrator_domain.testing.contracts.execution_queue_contract import ExecutionQueueContract
from orchestrator_domain.testing.contracts.fenced_writes import retry_later
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import (
    LEASE_SECONDS,
    OTHER_WORKER,
    WORKER,
    StoredCases,
)
from orchestrator_domain.testing.examples import checkpoint_of, write_of


class TestInMemoryExecutionQueue(ExecutionQueueContract):
    """Runs the shared suite; `harness` is the in-memory one."""


async def test_a_lease_runs_out_when_the_clock_has_passed_it(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    first = await cases.claimed()
    harness.clock.advance(LEASE_SECONDS - 1)
    assert not await harness.queue().claim(owner=OTHER_WORKER, limit=1, lease_seconds=LEASE_SECONDS)
    harness.clock.advance(1)
    assert (await cases.claim(owner=OTHER_WORKER)).fence.token == first.fence.token + 1


async def test_a_retry_is_due_when_the_clock_has_reached_its_time(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    await retry_later(cases, claimed, claimed.fence, [])
    harness.clock.advance(3599)
    assert not await harness.queue().claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
    harness.clock.advance(1)
    assert (await cases.claim()).execution.id == claimed.execution.id


async def test_an_execution_whose_lease_ran_out_keeps_its_place_before_one_that_was_accepted_later(
    harness: InMemoryHarness,
) -> None:
    cases = StoredCases(harness=harness)
    older = await cases.claimed()
    harness.clock.advance(LEASE_SECONDS - 1)
    younger = await cases.accepted()
    harness.clock.advance(2)
    claimed = await harness.queue().claim(owner=OTHER_WORKER, limit=2, lease_seconds=LEASE_SECONDS)
    assert [one.execution.id for one in claimed] == [older.execution.id, younger.id]


async def test_the_age_of_a_checkpoint_counts_from_its_first_attempt(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    first = await cases.claimed()
    running = checkpoint_of(first.execution.id)
    await harness.queue().checkpoint(first.fence, [write_of(running, cases.identifiers)])
    harness.clock.advance(30)
    again = write_of(evolve(running, attempts=2), cases.identifiers, before=(CheckpointStatus.RUNNING, 1))
    await harness.queue().checkpoint(first.fence, [again])
    harness.clock.advance(60)
    (read,) = (await cases.lost(first)).checkpoints
    assert round(read.first_attempt_age_seconds) == 90
    assert read.started_at is not None
    assert read.finished_at is None


async def test_a_document_that_is_linked_already_stays_as_it_is(harness: InMemoryHarness) -> None:
    cases = StoredCases(harness=harness)
    first = await cases.claimed()
    await _complete_with(cases, first, PHOTO)
    await cases.accepted((await cases.seen(first.request.id)).request, key="check-2")
    await _complete_with(cases, await cases.claim(), evolve(PHOTO, size_bytes=1))
    assert await harness.documents(first.request.id) == [PHOTO]


async def _complete_with(cases: StoredCases, claimed: ClaimedExecution, document: DocumentLink) -> None:
    fact = cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    completion = Completion(state=StateKey("OPEN"), data={}, result={}, documents=(document,))
    await cases.harness.queue().complete(claimed.fence, completion, writes=[], succeeded=[], fact=fact)
