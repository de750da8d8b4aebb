"""Sequential identifiers have the shape of real ones and are the same in every run."""

from uuid import RFC_4122

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

seeds = st.integers(min_value=0, max_value=2**62 - 1)


@given(seeds)
def test_ids_are_of_version_seven_and_ascend(seed: int) -> None:
    identifiers = SequentialIdentifiers(seed)
    ids = [identifiers.uuid() for _ in range(20)]
    assert {(one.version, one.variant) for one in ids} == {(7, RFC_4122)}
    assert ids == sorted(set(ids))


@given(seeds, seeds)
def test_two_seeds_never_give_the_same_id(one: int, other: int) -> None:
    first, second = SequentialIdentifiers(one), SequentialIdentifiers(other)
    drawn = {first.uuid() for _ in range(5)} & {second.uuid() for _ in range(5)}
    assert bool(drawn) == (one == other)


@given(seeds)
def test_salts_are_thirty_two_hexadecimal_digits_and_differ(seed: int) -> None:
    identifiers = SequentialIdentifiers(seed)
    salts = [identifiers.salt() for _ in range(10)]
    assert all(len(salt) == 32 and set(salt) <= set("0123456789abcdef") for salt in salts)
    assert len(set(salts)) == 10


@given(seeds)
def test_fractions_are_at_least_zero_and_below_one(seed: int) -> None:
    identifiers = SequentialIdentifiers(seed)
    assert all(0 <= identifiers.fraction() < 1 for _ in range(20))


@pytest.mark.parametrize("seed", [-1, 2**62])
def test_a_seed_that_does_not_fit_into_an_id_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="A seed is"):
        SequentialIdentifiers(seed)
