"""A transaction whose statements are all known beforehand, sent as one piece and answered at its end.

psycopg's pipeline sends each statement by itself, and gives others on the event loop their turn in between: while they
compute, the server waits for the next statement, and whoever else wants its rows waits with it. Here everything, from
BEGIN to COMMIT, is handed to libpq before anything is awaited.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Final, Protocol

import psycopg
from attrs import field, frozen
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from orchestrator_postgres.engine import StoreConnection

_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")


class _Command(Protocol):
    """A message to the server that has one answer."""

    def send(self, pgconn: PGconn) -> None: ...


@frozen
class _Bare(_Command):
    text: bytes

    def send(self, pgconn: PGconn) -> None:
        pgconn.send_query_params(self.text, None)


@frozen(kw_only=True)
class _Prepare(_Command):
    """A statement as the server is to keep it: with numbered parameters, under a name that is its own."""

    name: bytes
    text: bytes
    parameters: Sequence[str]

    def send(self, pgconn: PGconn) -> None:
        pgconn.send_prepare(self.name, self.text)


@frozen(kw_only=True)
class _Execute(_Command):
    prepared: _Prepare
    values: Sequence[bytes]

    def send(self, pgconn: PGconn) -> None:
        pgconn.send_query_prepared(self.prepared.name, self.values)


@frozen
class OneTrip:
    """Statements to be sent together, in one transaction; their values are texts, of the types that the casts say."""

    _executions: list[_Execute] = field(factory=list, init=False)

    def add(self, statement: bytes, values: Mapping[str, str]) -> None:
        """Have a statement with `%(name)s` placeholders sent after those that were added before.

        Raises psycopg.DataError for a value with U+0000, at which libpq would take it to end.
        """
        prepared = _prepared(statement)
        texts = [values[name] for name in prepared.parameters]
        if any("\0" in text for text in texts):
            raise psycopg.DataError("A value holds U+0000, which can't be stored.")
        self._executions.append(_Execute(prepared=prepared, values=[text.encode() for text in texts]))

    async def carry_out(self, connection: StoreConnection) -> None:
        """Return once all of it is committed; raise the first fault, after which nothing of it is stored.

        As always when a connection breaks, the answer to COMMIT may be what was lost. Answers are not read, so a
        statement has to fail where something isn't as it should be. The connection, which `makes_whole_trips` and
        which nobody else may use meanwhile, is idle afterwards or closed.
        """
        assert connection.prepare_threshold is None, (
            "a rollback of psycopg's would forget what is prepared here"
        )
        commands = self._commands(connection.prepared)
        try:
            results = await connection.wait(_exchanged(connection.pgconn, commands))
        except BaseException:
            # What is still under way would be taken for the answer to something else.
            if not connection.closed:
                await connection.close()
            raise
        connection.prepared.update(
            command.name
            for command, result in zip(commands, results, strict=False)
            if isinstance(command, _Prepare) and result.status == ExecStatus.COMMAND_OK
        )
        fault = next((result for result in results if result.status == ExecStatus.FATAL_ERROR), None)
        if fault is not None:
            if not connection.closed:
                await connection.rollback()
            raise psycopg.errors.error_from_result(fault)

    def _commands(self, known: set[bytes]) -> Sequence[_Command]:
        commands: list[_Command] = [_Bare(b"BEGIN")]
        prepared = set(known)
        for execution in self._executions:
            if execution.prepared.name not in prepared:
                prepared.add(execution.prepared.name)
                commands.append(execution.prepared)
            commands.append(execution)
        return [*commands, _Bare(b"COMMIT")]


@cache
def _prepared(statement: bytes) -> _Prepare:
    text = statement.decode()
    parameters = list(dict.fromkeys(_PLACEHOLDER.findall(text)))
    numbered = _PLACEHOLDER.sub(lambda found: f"${parameters.index(found[1]) + 1}", text)
    return _Prepare(
        name=f"orchestrator_{sha256(statement).hexdigest()[:16]}".encode(),
        text=numbered.replace("%%", "%").encode(),
        parameters=parameters,
    )


def _exchanged(pgconn: PGconn, commands: Sequence[_Command]) -> PQGen[Sequence[PGresult]]:
    """Send the commands and return the answer to each, fewer if the server ended the connection after a fault."""
    pgconn.enter_pipeline_mode()
    for command in commands:
        command.send(pgconn)
    pgconn.pipeline_sync()
    yield from generators.send(pgconn)
    results: list[PGresult] = []
    try:
        for _ in commands:
            results += yield from generators.fetch_many(pgconn)
        yield from generators.fetch_many(pgconn)
    except psycopg.DatabaseError:
        # It said why before it went.
        if any(result.status == ExecStatus.FATAL_ERROR for result in results):
            return results
        raise
    pgconn.exit_pipeline_mode()
    return results
