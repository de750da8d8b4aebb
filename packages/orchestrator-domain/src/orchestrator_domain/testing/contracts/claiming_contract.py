"""What `claim` promises."""

import pytest

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import FencingToken
from orchestrator_domain.testing.contracts.fenced_writes import ENDINGS, FencedWrite, retry_later
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import (
    LEASE_SECONDS,
    OTHER_WORKER,
    WORKER,
    StoredCases,
)
from orchestrator_domain.testing.examples import checkpoint_of, write_of


class ClaimingContract:
    async def test_a_claim_of_an_empty_queue_is_empty(self, harness: StoreHarness) -> None:
        assert not await harness.queue().claim(owner=WORKER, limit=10, lease_seconds=LEASE_SECONDS)

    async def test_a_claim_holds_all_that_a_run_needs(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        accepted = await cases.accepted(request)
        claimed = await cases.claim()
        assert claimed.request == (await cases.seen(request.id)).request
        assert (claimed.execution.id, claimed.execution.status) == (accepted.id, ExecutionStatus.RUNNING)
        assert claimed.execution.actor == accepted.actor
        # Whoever runs it tells of it as part of the call that asked for it.
        assert claimed.execution.correlation_id == accepted.correlation_id == "call-1"
        assert claimed.execution.trace_parent == accepted.trace_parent
        assert claimed.execution.trace_parent is not None
        assert (claimed.fence.execution_id, claimed.fence.request_id) == (accepted.id, request.id)
        assert (claimed.fence.owner, claimed.fence.token) == (WORKER, FencingToken(1))
        assert (claimed.checkpoints, claimed.claims_without_progress) == ((), 1)

    async def test_a_claim_brings_the_checkpoints_that_earlier_runs_stored(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        done = checkpoint_of(first.execution.id, status=CheckpointStatus.SUCCEEDED, result={"found": True})
        await harness.queue().checkpoint(first.fence, [write_of(done, cases.identifiers)])
        (stored,) = (await cases.lost(first)).checkpoints
        assert (stored.action, stored.status, stored.attempts) == (done.action, done.status, 1)
        assert (stored.external_key, stored.input_hash) == (done.external_key, done.input_hash)
        assert (stored.effect, stored.result) == (done.effect, {"found": True})

    async def test_a_claim_takes_at_most_its_limit(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        for _ in range(3):
            await cases.accepted()
        assert len(await harness.queue().claim(owner=WORKER, limit=2, lease_seconds=LEASE_SECONDS)) == 2
        assert len(await harness.queue().claim(owner=WORKER, limit=2, lease_seconds=LEASE_SECONDS)) == 1

    async def test_the_oldest_due_execution_is_claimed_first(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        accepted = [(await cases.accepted()).id for _ in range(3)]
        claimed = [
            (await harness.queue().claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS))[0].execution.id
            for _ in accepted
        ]
        assert claimed == accepted

    async def test_one_claim_lists_the_oldest_due_execution_first(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        accepted = [(await cases.accepted()).id for _ in range(3)]
        claimed = await harness.queue().claim(owner=WORKER, limit=3, lease_seconds=LEASE_SECONDS)
        assert [one.execution.id for one in claimed] == accepted

    async def test_what_is_claimed_is_not_claimed_again_while_its_lease_runs(
        self, harness: StoreHarness
    ) -> None:
        await StoredCases(harness=harness).claimed()
        for owner in (WORKER, OTHER_WORKER):
            assert not await harness.queue().claim(owner=owner, limit=10, lease_seconds=LEASE_SECONDS)

    async def test_an_execution_whose_lease_ran_out_is_claimed_by_another(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        second = await cases.lost(first)
        assert second.execution.id == first.execution.id
        assert second.fence.owner == OTHER_WORKER

    async def test_each_claim_raises_the_fencing_token(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        tokens = [claimed.fence.token]
        for _ in range(3):
            claimed = await cases.lost(claimed)
            tokens.append(claimed.fence.token)
        assert tokens == [1, 2, 3, 4]

    async def test_a_retry_is_not_claimed_before_its_time(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await retry_later(cases, claimed, claimed.fence, [])
        assert not await harness.queue().claim(owner=WORKER, limit=10, lease_seconds=LEASE_SECONDS)

    async def test_a_retry_whose_time_has_come_is_claimed_under_a_higher_token(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        await retry_later(cases, first, first.fence, [])
        await harness.make_due(first.execution.id)
        assert (await cases.claim()).fence.token > first.fence.token

    @pytest.mark.parametrize("ending", ENDINGS)
    async def test_what_has_ended_or_waits_for_an_operator_is_not_claimed(
        self, harness: StoreHarness, ending: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await ending(cases, claimed, claimed.fence, [])
        await harness.make_due(claimed.execution.id)
        assert not await harness.queue().claim(owner=WORKER, limit=10, lease_seconds=LEASE_SECONDS)

    async def test_claims_are_counted_as_long_as_no_checkpoint_is_written(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        second = await cases.lost(first)
        third = await cases.lost(second)
        assert [one.claims_without_progress for one in (first, second, third)] == [1, 2, 3]

    async def test_a_checkpoint_write_starts_the_count_of_claims_again(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        second = await cases.lost(await cases.claimed())
        write = write_of(checkpoint_of(second.execution.id), cases.identifiers)
        await harness.queue().checkpoint(second.fence, [write])
        assert (await cases.lost(second)).claims_without_progress == 1

    async def test_a_claim_adds_nothing_to_the_history(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        kinds = [entry.kind for entry in await harness.history(claimed.request.id)]
        assert kinds == [AuditKind.REQUEST_CREATED, AuditKind.EVENT_ACCEPTED]
