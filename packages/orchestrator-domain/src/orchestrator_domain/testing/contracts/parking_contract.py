"""What `retry_later`, `fail` and `require_reconciliation` promise of the execution and its request."""

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.testing.contracts.fenced_writes import fail, require_reconciliation, retry_later
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases


class ParkingContract:
    async def test_a_retry_waits_with_its_reason_and_blocks_the_request(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await retry_later(cases, claimed, claimed.fence, [])
        execution = await cases.seen_execution(claimed.execution.id)
        assert (execution.status, execution.error_code) == (ExecutionStatus.RETRY_WAIT, "PROVIDER_TIMEOUT")
        assert (await cases.seen(claimed.request.id)).active_execution == claimed.execution.id

    async def test_a_retry_is_due_after_its_delay_by_the_store_s_clock(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await retry_later(cases, claimed, claimed.fence, [])
        execution = await cases.seen_execution(claimed.execution.id)
        (*_, scheduled) = await harness.history(claimed.request.id)
        assert scheduled.kind is AuditKind.ACTION_RETRY_SCHEDULED
        assert execution.next_attempt_at is not None
        assert abs((execution.next_attempt_at - scheduled.created_at).total_seconds() - 3600) < 60

    async def test_a_retry_without_delay_is_due_at_once(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        fact = cases.fact(claimed.request, AuditKind.ACTION_RETRY_SCHEDULED, claimed.execution.id)
        await harness.queue().retry_later(
            claimed.fence, [], delay_seconds=0.0, error_code="PROVIDER_TIMEOUT", fact=fact
        )
        assert (await cases.claim()).execution.id == claimed.execution.id

    async def test_a_failure_releases_the_request_as_it_was_and_bumps_its_revision(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await fail(cases, claimed, claimed.fence, [])
        seen = await cases.seen(claimed.request.id)
        assert seen.active_execution is None
        assert (seen.request.state, seen.request.data) == (claimed.request.state, claimed.request.data)
        assert seen.request.revision == claimed.request.revision + 1

    async def test_a_failure_is_seen_with_its_reason(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await fail(cases, claimed, claimed.fence, [])
        execution = await cases.seen_execution(claimed.execution.id)
        assert (execution.status, execution.error_code) == (ExecutionStatus.FAILED, "PROVIDER_REJECTED")

    async def test_a_released_request_takes_another_event(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await fail(cases, claimed, claimed.fence, [])
        released = (await cases.seen(claimed.request.id)).request
        second = await cases.accepted(released, key="check-2")
        assert (await cases.claim()).execution.id == second.id

    async def test_required_reconciliation_keeps_the_request_blocked_as_it_was(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await require_reconciliation(cases, claimed, claimed.fence, [])
        seen = await cases.seen(claimed.request.id)
        assert seen.active_execution == claimed.execution.id
        assert (seen.request.state, seen.request.data) == (claimed.request.state, claimed.request.data)
        execution = await cases.seen_execution(claimed.execution.id)
        assert execution.status is ExecutionStatus.RECONCILIATION_REQUIRED
        assert execution.error_code == "EFFECT_UNCERTAIN"
