"""What `renew` promises."""

from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.errors import LeaseLost
from orchestrator_domain.identifiers import FencingToken
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_domain.testing.contracts.fenced_writes import ENDINGS, FencedWrite, retry_later
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, OTHER_WORKER, StoredCases

LONGER_SECONDS = 10 * LEASE_SECONDS
LOST = Renewed()


class RenewingContract:
    async def test_a_renewal_extends_a_running_lease_from_the_present_moment(
        self, harness: StoreHarness
    ) -> None:
        claimed = await StoredCases(harness=harness).claimed()
        assert await harness.lease_seconds_left(claimed.execution.id) <= LEASE_SECONDS
        renewed = await harness.queue().renew(fences=[claimed.fence], lease_seconds=LONGER_SECONDS)
        assert renewed == Renewed(held=frozenset({claimed.execution.id}))
        assert LEASE_SECONDS < await harness.lease_seconds_left(claimed.execution.id) <= LONGER_SECONDS

    async def test_a_renewal_of_nothing_renews_nothing(self, harness: StoreHarness) -> None:
        assert await harness.queue().renew(fences=[], lease_seconds=LEASE_SECONDS) == LOST

    async def test_a_lease_that_has_run_out_is_not_revived(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await harness.expire_lease(claimed.execution.id)
        assert await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS) == LOST
        with pytest.raises(LeaseLost):
            await harness.queue().checkpoint(claimed.fence, [])

    async def test_a_renewal_under_an_old_token_leaves_the_new_lease_as_it_was(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        second = await cases.lost(first)
        assert await harness.queue().renew(fences=[first.fence], lease_seconds=LONGER_SECONDS) == LOST
        assert await harness.lease_seconds_left(second.execution.id) <= LEASE_SECONDS

    @pytest.mark.parametrize(
        "changes", [{"owner": OTHER_WORKER}, {"token": FencingToken(2)}, {"token": FencingToken(0)}]
    )
    async def test_a_renewal_under_another_owner_or_token_extends_nothing(
        self, harness: StoreHarness, changes: dict[str, Any]
    ) -> None:
        claimed = await StoredCases(harness=harness).claimed()
        fence = evolve(claimed.fence, **changes)
        assert await harness.queue().renew(fences=[fence], lease_seconds=LONGER_SECONDS) == LOST
        assert await harness.lease_seconds_left(claimed.execution.id) <= LEASE_SECONDS

    async def test_of_several_leases_each_is_told_as_it_stands(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        held, lost, ended = [await cases.claimed() for _ in range(3)]
        await harness.expire_lease(lost.execution.id)
        await retry_later(cases, ended, ended.fence, [])
        fences = [lost.fence, ended.fence, held.fence]
        assert await harness.queue().renew(fences=fences, lease_seconds=LEASE_SECONDS) == Renewed(
            held=frozenset({held.execution.id}), given_back=frozenset({ended.execution.id})
        )

    @pytest.mark.parametrize("ending", [retry_later, *ENDINGS])
    async def test_what_was_given_back_is_told_from_what_is_lost(
        self, harness: StoreHarness, ending: FencedWrite
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await ending(cases, claimed, claimed.fence, [])
        renewed = await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS)
        assert renewed == Renewed(given_back=frozenset({claimed.execution.id}))

    async def test_what_was_given_back_and_claimed_again_is_lost_to_the_run_that_gave_it_back(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await retry_later(cases, claimed, claimed.fence, [])
        await harness.make_due(claimed.execution.id)
        (again,) = await harness.queue().claim(owner=OTHER_WORKER, limit=1, lease_seconds=LEASE_SECONDS)
        assert await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS) == LOST
        await retry_later(cases, again, again.fence, [])
        assert await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS) == LOST
