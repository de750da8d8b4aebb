"""The simulation finds what it is there to find: each protection, left out alone, is missed within a few seeds."""

import pytest
from tests.simulation.broken_queues import ClaimReadsBeforeItLocks
from tests.simulation.seeds import Failure, failure_of, shrunk
from tests.simulation.stage import Make
from tests.simulation.variants import VARIANTS, Variant

pytestmark = pytest.mark.no_cover


def caught(variant: Variant) -> Failure:
    """Return the first failure of a variant."""
    failures = (failure_of(seed, variant.make) for seed in range(variant.seeds_max))
    found = next((failure for failure in failures if failure is not None), None)
    assert found is not None, f"no seed below {variant.seeds_max} catches this variant: {variant.name}"
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_protocol_with_one_protection_left_out_is_caught(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, broken in variant.patches.items():
        monkeypatch.setattr(place, broken)
    failure = caught(variant)
    assert any(words in failure.promise for words in variant.caught_by), failure.promise


def test_the_compare_and_set_alone_makes_up_for_a_claim_that_reads_before_it_locks() -> None:
    make = Make(queue=ClaimReadsBeforeItLocks)
    assert [seed for seed in range(800) if failure_of(seed, make) is not None] == []


def test_a_failure_is_told_with_no_more_faults_than_it_needs() -> None:
    make = VARIANTS[0].make
    failures = (failure_of(seed, make) for seed in range(800))
    failure = next(found for found in failures if found is not None and found.faults > 6)
    told = shrunk(failure, make)
    assert (told.seed, told.promise) == (failure.seed, failure.promise)
    assert told.faults - len(told.without) < failure.faults
    assert str(told).startswith(f"Seed {failure.seed} breaks a promise: A stale fence wrote")
    assert len(told.trace) > 10
