"""What every write of a run promises: all of it or nothing, and nothing under a fence that doesn't hold."""

from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.audit import verify_chain
from orchestrator_domain.errors import CheckpointMoved, LeaseLost, RequestMoved
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ActionKey, FencingToken
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import (
    ENDINGS_WITHOUT_TRANSITION,
    FENCED_WRITES,
    WRITES_AS_ACCEPTED,
    WRITES_WITH_A_FACT,
    FencedWrite,
    checkpoint,
)
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import OTHER_WORKER, StoredCases
from orchestrator_domain.testing.examples import LOOKUP, checkpoint_of, write_of

SHELVE = ActionKey("shelve")

each_write = pytest.mark.parametrize("write", FENCED_WRITES)


class FencingContract:
    @each_write
    async def test_a_held_fence_writes_every_checkpoint_it_is_given(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await write(cases, claimed, claimed.fence, [_start(cases, claimed), _start(cases, claimed, SHELVE)])
        stored = await harness.checkpoints(claimed.execution.id)
        assert [(one.action, one.status, one.attempts) for one in stored] == [
            ("lookup", CheckpointStatus.RUNNING, 1),
            ("shelve", CheckpointStatus.RUNNING, 1),
        ]

    @each_write
    async def test_a_stale_fence_writes_nothing(self, harness: StoreHarness, write: FencedWrite) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        await cases.lost(first)
        await self._raises_and_writes_nothing(cases, first, first.fence, write, LeaseLost)

    @each_write
    async def test_a_lease_that_has_run_out_writes_nothing_even_if_nobody_claimed_it(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await harness.expire_lease(claimed.execution.id)
        await self._raises_and_writes_nothing(cases, claimed, claimed.fence, write, LeaseLost)

    @each_write
    @pytest.mark.parametrize(
        "changes", [{"owner": OTHER_WORKER}, {"token": FencingToken(2)}, {"token": FencingToken(0)}]
    )
    async def test_another_owner_or_token_writes_nothing(
        self, harness: StoreHarness, write: FencedWrite, changes: dict[str, Any]
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        fence = evolve(claimed.fence, **changes)
        await self._raises_and_writes_nothing(cases, claimed, fence, write, LeaseLost)

    @each_write
    @pytest.mark.parametrize("giving_back", WRITES_WITH_A_FACT)
    async def test_a_fence_that_was_given_back_writes_nothing(
        self, harness: StoreHarness, write: FencedWrite, giving_back: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await giving_back(cases, claimed, claimed.fence, [])
        await self._raises_and_writes_nothing(cases, claimed, claimed.fence, write, LeaseLost)

    @pytest.mark.parametrize("write", WRITES_AS_ACCEPTED)
    async def test_a_request_that_moved_since_the_acceptance_is_not_written_for(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await harness.move_request(claimed.request.id)
        await self._raises_and_writes_nothing(cases, claimed, claimed.fence, write, RequestMoved)

    @pytest.mark.parametrize("write", ENDINGS_WITHOUT_TRANSITION)
    async def test_an_execution_whose_request_moved_can_still_be_ended(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await harness.move_request(claimed.request.id)
        await write(cases, claimed, claimed.fence, [])
        assert (await cases.seen_execution(claimed.execution.id)).error_code is not None

    @each_write
    @pytest.mark.parametrize(
        "before",
        [
            None,
            (CheckpointStatus.RUNNING, 2),
            (CheckpointStatus.PENDING, 1),
            (CheckpointStatus.SUCCEEDED, 1),
        ],
    )
    async def test_a_checkpoint_that_is_not_as_it_was_stops_the_whole_write(
        self, harness: StoreHarness, write: FencedWrite, before: tuple[CheckpointStatus, int] | None
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await checkpoint(cases, claimed, claimed.fence, [_start(cases, claimed)])
        moved = write_of(_done(claimed), cases.identifiers, before=before)
        writes = [_start(cases, claimed, SHELVE), moved]
        await self._raises_and_writes_nothing(
            cases, claimed, claimed.fence, write, CheckpointMoved, writes=writes
        )

    @each_write
    async def test_a_checkpoint_that_is_not_there_stops_a_write_that_expects_it(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        missing = write_of(_done(claimed), cases.identifiers, before=(CheckpointStatus.RUNNING, 1))
        writes = [_start(cases, claimed, SHELVE), missing]
        await self._raises_and_writes_nothing(
            cases, claimed, claimed.fence, write, CheckpointMoved, writes=writes
        )

    async def test_a_checkpoint_that_is_as_it_was_is_replaced(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await checkpoint(cases, claimed, claimed.fence, [_start(cases, claimed)])
        end = write_of(_done(claimed), cases.identifiers, before=(CheckpointStatus.RUNNING, 1))
        await checkpoint(cases, claimed, claimed.fence, [end])
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert (stored.status, stored.result) == (CheckpointStatus.SUCCEEDED, {"found": True})

    @each_write
    async def test_a_start_computed_from_an_earlier_attempt_stops_the_whole_write(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await checkpoint(cases, claimed, claimed.fence, [_start(cases, claimed)])
        second = evolve(checkpoint_of(claimed.execution.id), attempts=2)
        again = write_of(second, cases.identifiers, before=(CheckpointStatus.RUNNING, 1))
        await checkpoint(cases, claimed, claimed.fence, [again])
        await self._raises_and_writes_nothing(
            cases, claimed, claimed.fence, write, CheckpointMoved, writes=[again]
        )

    async def test_an_attempt_that_was_not_made_is_taken_back_and_the_moment_of_the_first_start_stays(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        start = checkpoint_of(claimed.execution.id)
        await checkpoint(cases, claimed, claimed.fence, [_start(cases, claimed)])
        (started,) = await harness.checkpoints(claimed.execution.id)
        parked = write_of(start.parked("CIRCUIT_OPEN"), cases.identifiers, before=(start.status, 1))
        await checkpoint(cases, claimed, claimed.fence, [parked])
        again = write_of(start, cases.identifiers, before=(CheckpointStatus.PENDING, 0))
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert (stored.status, stored.attempts, stored.error_code) == ("PENDING", 0, "CIRCUIT_OPEN")
        assert stored.started_at == started.started_at
        await checkpoint(cases, claimed, claimed.fence, [again])
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert (stored.status, stored.attempts, stored.started_at) == ("RUNNING", 1, started.started_at)

    async def test_a_checkpoint_keeps_what_is_known_of_its_effect(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        unknown = evolve(
            checkpoint_of(claimed.execution.id, status=CheckpointStatus.UNKNOWN),
            uncertain=True,
            provider_reference="loan-7",
            error_code="PROVIDER_TIMEOUT",
        )
        await checkpoint(cases, claimed, claimed.fence, [write_of(unknown, cases.identifiers)])
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert (stored.status, stored.uncertain) == (CheckpointStatus.UNKNOWN, True)
        assert (stored.provider_reference, stored.error_code) == ("loan-7", "PROVIDER_TIMEOUT")

    async def test_checkpoints_add_nothing_to_the_history(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        before = await harness.history(claimed.request.id)
        await checkpoint(cases, claimed, claimed.fence, [_start(cases, claimed)])
        assert await harness.history(claimed.request.id) == before

    @pytest.mark.parametrize("write", WRITES_WITH_A_FACT)
    async def test_a_write_appends_its_fact_to_an_unbroken_chain(
        self, harness: StoreHarness, write: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        before = list(await harness.history(claimed.request.id))
        await write(cases, claimed, claimed.fence, [])
        after = list(await harness.history(claimed.request.id))
        assert after[:-1] == before
        assert after[-1].execution_id == claimed.execution.id
        assert verify_chain(after) is None

    async def _raises_and_writes_nothing(
        self,
        cases: StoredCases,
        claimed: ClaimedExecution,
        fence: Fence,
        write: FencedWrite,
        error: type[Exception],
        *,
        writes: list[CheckpointWrite] | None = None,
    ) -> None:
        before = await _everything(cases, claimed)
        attempted = [_start(cases, claimed)] if writes is None else writes
        with pytest.raises(error):
            await write(cases, claimed, fence, attempted)
        assert await _everything(cases, claimed) == before


def _start(cases: StoredCases, claimed: ClaimedExecution, action: ActionKey = LOOKUP) -> CheckpointWrite:
    return write_of(checkpoint_of(claimed.execution.id, action=action), cases.identifiers)


def _done(claimed: ClaimedExecution) -> Checkpoint:
    return checkpoint_of(claimed.execution.id, status=CheckpointStatus.SUCCEEDED, result={"found": True})


async def _everything(cases: StoredCases, claimed: ClaimedExecution) -> tuple[object, ...]:
    """Return all that a write could have changed; ages are left out, since time passes by itself."""
    stored = await cases.harness.checkpoints(claimed.execution.id)
    return (
        await cases.seen(claimed.request.id),
        await cases.seen_execution(claimed.execution.id),
        [evolve(one, first_attempt_age_seconds=0.0, ended_age_seconds=0.0) for one in stored],
        list(await cases.harness.history(claimed.request.id)),
        list(await cases.harness.documents(claimed.request.id)),
    )
