"""Which seeds the simulation runs: so many, beginning where the date or the environment says."""

import os
from datetime import UTC, datetime

_A_DAY_OF_SEEDS = 1_000_000


def seed_count() -> int:
    """Return SIMULATION_SEEDS, or 20,000."""
    return int(os.environ.get("SIMULATION_SEEDS", "20000"))


def first_seed() -> int:
    """Return SIMULATION_FIRST_SEED, or one that is another every day, so that the seeds rotate."""
    given = os.environ.get("SIMULATION_FIRST_SEED")
    if given is not None:
        return int(given)
    return datetime.now(UTC).date().toordinal() * _A_DAY_OF_SEEDS


def pytest_report_header() -> str:
    """Say which seeds this run has, so that any other run can repeat them."""
    return f"simulation: {seed_count()} seeds from SIMULATION_FIRST_SEED={first_seed()}"
