"""Renew leases on a connection and in a thread of its own, so that nothing else can starve it."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, cast

import psycopg
from attrs import evolve
from psycopg.errors import LockNotAvailable
from psycopg.rows import DictRow, dict_row

from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.fault_translation import TransientFault, translated_faults, unavailable
from orchestrator_postgres.fence import fence_values
from orchestrator_postgres.statements import sql_file

_RENEW_ALL = sql_file("renew_leases")
_LOCK = sql_file("lock_execution")
_RENEW_ONE = sql_file("renew_lease")
_STILL_HELD = sql_file("read_fence")
_ATTEMPTS_MAX = 3
_PATIENCE_SECONDS = 10.0
_BUSY_WAIT = b"SET LOCAL lock_timeout = '1s'"


class LeaseRenewal:
    """Renew leases, whatever the event loop and the pool are doing.

    `renew` may be awaited on any event loop; `renew_now` may be called from any thread.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        # A renewal that hangs longer than this would be too late anyway; a new connection may still be in time.
        seconds = min(settings.statement_timeout_seconds, _PATIENCE_SECONDS)
        self._settings = evolve(settings, statement_timeout_seconds=seconds)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lease-renewal")
        self._one_at_a_time = Lock()
        self._connection: psycopg.Connection[DictRow] | None = None

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> frozenset[ExecutionId]:
        """Extend the leases that still run under their fences; return the executions that are still held."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.renew_now, tuple(fences), lease_seconds)

    def renew_now(self, fences: Collection[Fence], lease_seconds: float) -> frozenset[ExecutionId]:
        """Do as `renew`, in the calling thread."""
        if not fences:
            return frozenset()
        with self._one_at_a_time:
            for _ in range(_ATTEMPTS_MAX):
                try:
                    return self._attempt(fences, lease_seconds)
                except TransientFault:
                    self._drop_connection()
        raise unavailable()

    def close(self) -> None:
        """Wait for a renewal that is under way, then close the connection."""
        self._thread.shutdown(wait=True)
        with self._one_at_a_time:
            self._drop_connection()

    def _attempt(self, fences: Collection[Fence], lease_seconds: float) -> frozenset[ExecutionId]:
        with translated_faults():
            connection = self._open_connection()
            renewed = _renew_all(connection, fences, lease_seconds)
            passed_over = (fence for fence in fences if fence.execution_id not in renewed)
            alone = {f.execution_id for f in passed_over if _renew_alone(connection, f, lease_seconds)}
        return renewed | alone

    def _open_connection(self) -> psycopg.Connection[DictRow]:
        if self._connection is None:
            self._connection = psycopg.connect(
                autocommit=True, row_factory=cast("Any", dict_row), **self._settings.arguments()
            )
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _renew_all(
    connection: psycopg.Connection[DictRow], fences: Collection[Fence], lease_seconds: float
) -> frozenset[ExecutionId]:
    values = {
        "execution_ids": [fence.execution_id for fence in fences],
        "request_ids": [fence.request_id for fence in fences],
        "owners": [fence.owner for fence in fences],
        "tokens": [fence.token for fence in fences],
        "lease_seconds": lease_seconds,
    }
    return frozenset(row["id"] for row in connection.execute(_RENEW_ALL, values).fetchall())


def _renew_alone(connection: psycopg.Connection[DictRow], fence: Fence, lease_seconds: float) -> bool:
    values = {**fence_values(fence), "lease_seconds": lease_seconds}
    try:
        with connection.transaction():
            connection.execute(_BUSY_WAIT)
            connection.execute(_LOCK, values)
            return connection.execute(_RENEW_ONE, values).fetchone() is not None
    except LockNotAvailable:
        # Busy is not lost: its own run is writing at this moment, and the lease still stands.
        return connection.execute(_STILL_HELD, values).fetchone() is not None
