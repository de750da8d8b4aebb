"""Which of many faults a run of the tests tries: a few that change with the day, or those of the seed that is given."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random


def fault_seed() -> int:
    """Return FAULT_SEED, or one that is another every day."""
    given = os.environ.get("FAULT_SEED")
    return datetime.now(UTC).date().toordinal() if given is None else int(given)


def chosen[T](name: str, options: Sequence[T], count: int) -> list[T]:
    """Return some of the options, the same ones for a name and a seed whenever they are asked for."""
    return Random(f"{fault_seed()} {name}").sample(options, min(count, len(options)))


def pytest_report_header() -> str:
    """Say which faults this run tries, so that any other run can try them again."""
    return f"faults: FAULT_SEED={fault_seed()}"
