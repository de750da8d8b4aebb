"""Whatever happens in whatever order, no promise of the protocol is broken (protocol, closing list).

A failing seed says how to run it alone: SIMULATION_FIRST_SEED=<seed> SIMULATION_SEEDS=1 and this file.
"""

import pytest
from tests.plugins.simulation_seeds import first_seed, seed_count
from tests.simulation.seeds import failure_of, shrunk

_CHUNK = 500
_CHUNKS = -(-seed_count() // _CHUNK)


@pytest.mark.no_cover  # what covers the domain is measured by tests that name what they cover
@pytest.mark.parametrize("chunk", range(_CHUNKS))
def test_no_seed_breaks_a_promise(chunk: int) -> None:
    first = first_seed() + chunk * _CHUNK
    for seed in range(first, first + min(_CHUNK, seed_count() - chunk * _CHUNK)):
        failure = failure_of(seed)
        if failure is not None:
            pytest.fail(str(shrunk(failure)), pytrace=False)


def test_a_seed_is_the_same_history_whenever_it_is_run() -> None:
    first, second = traced_steps(11), traced_steps(11)
    assert first == second
    assert len(first) > 100


def traced_steps(seed: int) -> list[str]:
    """Return every step of a seed."""
    trace: list[str] = []
    assert failure_of(seed, trace=trace) is None
    return trace
