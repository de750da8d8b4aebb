"""What a connection sent, by libpq's own trace of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from psycopg import AsyncConnection


@contextmanager
def traced(connection: AsyncConnection[object], into: Path) -> Iterator[None]:
    """Write down every message of the connection meanwhile."""
    with into.open("w") as trace:
        connection.pgconn.trace(trace.fileno())
        try:
            yield
        finally:
            connection.pgconn.untrace()


def round_trips(trace: Path) -> int:
    """Count how often the server answered: runs of its messages between those of the client."""
    # A statement's own lines are lines of the trace, too.
    lines = [line.split("\t") for line in trace.read_text().splitlines()]
    senders = [line[1] for line in lines if len(line) > 3 and line[1] in ("F", "B")]
    return sum(one == "F" and following == "B" for one, following in pairwise(senders))
