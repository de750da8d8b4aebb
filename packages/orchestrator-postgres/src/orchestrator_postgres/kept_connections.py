"""Connections that a hot path keeps between statements, without the cost of a pool's checkout."""

from asyncio import Semaphore
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg.pq import TransactionStatus

from orchestrator_postgres.engine import ConnectionSettings, StoreConnection, connect
from orchestrator_postgres.fault_translation import leads_to_a_standby
from orchestrator_postgres.overdue_answer import broken_off_after


class KeptConnections:
    """Lend at most `connections_max` connections, the one that was used last first.

    They are opened when needed and not looked at before use: whoever borrows one does its work again after a broken
    connection. The first that is found broken takes all idle ones with it, one that doesn't answer is broken off, and
    one that met a fault is closed.
    """

    def __init__(self, settings: ConnectionSettings, *, connections_max: int) -> None:
        self._settings = settings
        self._turns = Semaphore(connections_max)
        self._idle: list[StoreConnection] = []
        self._closed = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[StoreConnection]:
        async with self._turns:
            connection = self._idle.pop() if self._idle else await connect(self._settings)
            try:
                with broken_off_after(connection, self._settings.answer_seconds_max):
                    yield connection
            except psycopg.Error as fault:
                all_alike = connection.broken or leads_to_a_standby(fault)
                # A statement that the server passed over after the fault may count as prepared here.
                await connection.close()
                if all_alike:
                    await self._close_idle()
                raise
            finally:
                await self._take_back(connection)

    async def close(self) -> None:
        """Close what is idle now, and what is lent as soon as it comes back."""
        self._closed = True
        await self._close_idle()

    async def _take_back(self, connection: StoreConnection) -> None:
        if connection.closed:
            return
        if self._closed or connection.info.transaction_status is not TransactionStatus.IDLE:
            await connection.close()
        else:
            self._idle.append(connection)

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()
