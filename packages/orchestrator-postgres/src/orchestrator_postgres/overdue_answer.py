"""Give up on a server that took what it was sent and never answers.

The server's own timeouts end a statement that takes too long, and keep-alives find a machine that is gone. Neither helps
where something in between, a pooler say, holds the connection open and lets no answer through.
"""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection


@contextmanager
def broken_off_after(connection: AsyncConnection[Any], seconds: float) -> Iterator[None]:
    """Break the connection off if it is still used then: whoever waits for its answer is told that it was lost.

    What was sent may be carried out nevertheless, as after any answer that is lost.
    """
    overdue = asyncio.get_running_loop().call_later(seconds, _break_off, connection)
    try:
        yield
    finally:
        overdue.cancel()


def _break_off(connection: AsyncConnection[Any]) -> None:
    # Cancelling whoever waits would not do: psycopg asks the server to cancel, and waits for its answer.
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as way:
        way.shutdown(socket.SHUT_RDWR)
