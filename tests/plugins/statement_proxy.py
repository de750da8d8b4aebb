"""A proxy before PostgreSQL that knows each statement on its way, and can stop the world at one of them.

It reads the messages of the protocol, counts statements whatever connection and pipeline they come on, and holds
everything still once the one that it waits for is there: before it has reached the server, or after the server has
carried it out and before anybody has heard of it.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from functools import partial
from threading import Condition, Thread
from typing import Self
from urllib.parse import urlsplit, urlunsplit

from attrs import define, field, frozen
from tests.plugins.protocol_messages import FLUSH, Message, StatementReader, ends_a_statement, messages

_CHUNK_BYTES = 65536
PATIENCE_SECONDS = 30.0


class Side(StrEnum):
    """On which side of a statement the fault comes."""

    BEFORE = "before"
    AFTER = "after"


@frozen(kw_only=True)
class Strike:
    """Stop the world at the n-th statement that counts, from one on."""

    number: int
    side: Side


def _every(_: str) -> bool:
    return True


@define(eq=False)
class _Connection:
    """Both sockets of one connection, and how far the server is with what it was sent."""

    client: socket.socket
    server: socket.socket
    reader: StatementReader = field(factory=StatementReader)
    sent: int = 0
    carried_out: int = 0
    synced: int = 0
    # A server is ready once before it is asked for anything.
    ready: int = -1
    deaf: bool = False
    # After a fault the server passes over everything up to the next Sync, and says nothing of it.
    passes_over: bool = False

    def is_done(self) -> bool:
        return (self.passes_over or self.carried_out >= self.sent) and self.ready >= self.synced

    def answered(self, message: Message) -> None:
        """Take note of what the server says."""
        self.carried_out += ends_a_statement(message)
        if message.kind == b"E":
            self.passes_over = True
        elif message.kind == b"Z":
            self.ready += 1
            if self.passes_over:
                self.passes_over, self.carried_out = False, self.sent

    def close(self) -> None:
        for each in (self.client, self.server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class StatementProxy:
    """Stand between processes and the server of a URL.

    `counts` says which statements count; `statements` are those that did since `begin`. Once it has struck, nothing
    passes in either direction before `let_go`, which cuts every connection, or `go_on`, which cuts none.
    """

    def __init__(self, url: str) -> None:
        self._upstream = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._changed = Condition()
        self._connections: list[_Connection] = []
        self._threads: list[Thread] = []
        self._counts: Callable[[str], bool] = _every
        self._strike: Strike | None = None
        self._swallowed: Callable[[str], bool] | None = None
        self._open = True
        self.struck = False
        self.statements: list[str] = []

    @property
    def url(self) -> str:
        port = self._listener.getsockname()[1]
        user, _, _ = self._upstream.netloc.rpartition("@")
        return urlunsplit(self._upstream._replace(netloc=f"{user}@127.0.0.1:{port}", query="sslmode=disable"))

    def begin(self, counts: Callable[[str], bool] = _every, strike: Strike | None = None) -> None:
        """Count from one again, and strike where it is told to; what was held goes on."""
        with self._changed:
            self._counts, self._strike = counts, strike
            self.statements, self.struck = [], False
            self._changed.notify_all()

    def swallow(self, connections_with: Callable[[str], bool]) -> None:
        """Let nothing more arrive on any connection that sends such a statement, nor come back, and keep it open."""
        with self._changed:
            self._swallowed = connections_with

    def await_strike(self) -> str:
        """Return the statement at which the world stands still."""
        with self._changed:
            struck = self._changed.wait_for(lambda: self.struck, PATIENCE_SECONDS)
        assert struck, f"only these came by: {self.statements}"
        return self.statements[-1]

    def await_statement(self, counted: Callable[[list[str]], bool]) -> None:
        """Return once what has been counted is as asked for."""
        with self._changed:
            came = self._changed.wait_for(lambda: counted(self.statements), PATIENCE_SECONDS)
        assert came, f"only these came by: {self.statements}"

    def let_go(self) -> None:
        """Cut every connection, and let new ones pass as if nothing had been."""
        self._cut()
        with self._changed:
            self._strike, self.struck = None, False
            self._changed.notify_all()

    def go_on(self) -> None:
        """Let everything that is held pass."""
        with self._changed:
            self._strike, self.struck = None, False
            self._changed.notify_all()

    def __enter__(self) -> Self:
        self._run(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.let_go()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def _cut(self) -> None:
        with self._changed:
            cut, self._connections = self._connections, []
        for connection in cut:
            connection.close()

    def _run(self, work: Callable[[], None]) -> None:
        thread = Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while self._open:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                address = (self._upstream.hostname or "127.0.0.1", self._upstream.port or 5432)
                server = socket.create_connection(address)
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(client, server)
            with self._changed:
                self._connections.append(connection)
            self._run(partial(self._pump, connection, self._requests))
            self._run(partial(self._pump, connection, self._answers))

    def _pump(self, connection: _Connection, work: Callable[[_Connection], None]) -> None:
        with suppress(OSError):
            work(connection)
        connection.close()
        with self._changed, suppress(ValueError):
            self._connections.remove(connection)
            self._changed.notify_all()

    def _requests(self, connection: _Connection) -> None:
        for chunk in _chunks(connection.client):
            for message in connection.reader.read(chunk):
                self._request(connection, message)

    def _request(self, connection: _Connection, message: Message) -> None:
        statement = connection.reader.statement(message)
        if statement is None:
            connection.synced += message.kind == b"S"
            self._forward(connection, message.whole)
            return
        with self._changed:
            if self._swallowed is not None and self._swallowed(statement):
                connection.deaf = True
            strikes = self._counted(statement)
        if strikes is Side.BEFORE:
            self._stand_still_when_carried_out(connection)
        with self._changed:
            self._changed.wait_for(lambda: not self.struck)
            connection.sent += message.kind != b"S"
            connection.synced += message.kind != b"E"
        self._forward(connection, message.whole)
        if strikes is Side.AFTER:
            connection.deaf = True
            self._stand_still_when_carried_out(connection)

    def _counted(self, statement: str) -> Side | None:
        if self.struck or not self._counts(statement):
            return None
        self.statements.append(statement)
        self._changed.notify_all()
        strike = self._strike
        return strike.side if strike is not None and strike.number == len(self.statements) else None

    def _stand_still_when_carried_out(self, connection: _Connection) -> None:
        """Let the server come to the end of what it was sent, then hold everything until it may go on."""
        connection.server.sendall(FLUSH)
        with self._changed:
            self._changed.wait_for(connection.is_done, PATIENCE_SECONDS)
            self.struck = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self.struck)

    def _forward(self, connection: _Connection, data: bytes) -> None:
        if not connection.deaf:
            connection.server.sendall(data)

    def _answers(self, connection: _Connection) -> None:
        pending = bytearray()
        for chunk in _chunks(connection.server):
            pending += chunk
            arrived = list(messages(pending))
            with self._changed:
                for message in arrived:
                    connection.answered(message)
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self.struck or connection.deaf)
            if not connection.deaf:
                connection.client.sendall(chunk)


def _chunks(end: socket.socket) -> Iterator[bytes]:
    while chunk := end.recv(_CHUNK_BYTES):
        yield chunk
