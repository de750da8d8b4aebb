"""Renew leases on a connection and in a thread of its own, so that nothing else can starve it."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, cast

import psycopg
from attrs import evolve
from psycopg.errors import LockNotAvailable, QueryCanceled
from psycopg.rows import DictRow, dict_row

from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.fault_translation import TransientFault, translated_faults, unavailable
from orchestrator_postgres.statements import sql_file

_RENEW_ALL = sql_file("renew_leases")
_LOCK_ALL = sql_file("lock_executions")
_STANDING = sql_file("standing_of_leases")
_ATTEMPTS_MAX = 3
_PATIENCE_SECONDS = 10.0
# Who renews waits for a share of the lease; what waits for busy rows has to be well within it.
_BUSY_WAIT_SHARE = 1 / 60
_BUSY_WAIT_SECONDS_MAX = 1.0
_BUSY_WAIT = b"SELECT set_config('statement_timeout', %s, true)"


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

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        """Extend the leases that still run under their fences; tell what is held, given back and lost apart."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.renew_now, tuple(fences), lease_seconds)

    def renew_now(self, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        """Do as `renew`, in the calling thread."""
        if not fences:
            return Renewed()
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

    def _attempt(self, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        with translated_faults():
            connection = self._open_connection()
            renewed = _renew(connection, fences, lease_seconds)
            missing = _without(fences, renewed)
            standing = _standing(connection, missing)
            busy = [fence for fence in missing if fence.execution_id in standing.held]
            waited_for = _renew_busy(connection, busy, lease_seconds) if busy else Renewed()
            return Renewed(
                held=renewed | waited_for.held, given_back=standing.given_back | waited_for.given_back
            )

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


def _renew(
    connection: psycopg.Connection[DictRow], fences: Collection[Fence], lease_seconds: float
) -> frozenset[ExecutionId]:
    """Extend what is free and still runs, and return it."""
    values = {**_values(fences), "lease_seconds": lease_seconds}
    return frozenset(row["id"] for row in connection.execute(_RENEW_ALL, values).fetchall())


def _standing(connection: psycopg.Connection[DictRow], fences: Collection[Fence]) -> Renewed:
    """Tell where leases stand that were not renewed, whoever is writing to their rows."""
    if not fences:
        return Renewed()
    rows = connection.execute(_STANDING, _values(fences)).fetchall()
    return Renewed(
        held=frozenset(row["id"] for row in rows if not row["given_back"]),
        given_back=frozenset(row["id"] for row in rows if row["given_back"]),
    )


def _renew_busy(
    connection: psycopg.Connection[DictRow], fences: Collection[Fence], lease_seconds: float
) -> Renewed:
    """Wait a moment for rows that are written at this moment, for all of them together, and renew them."""
    wait = min(lease_seconds * _BUSY_WAIT_SHARE, _BUSY_WAIT_SECONDS_MAX)
    try:
        with connection.transaction():
            # Not lock_timeout, which would begin anew at every row.
            connection.execute(_BUSY_WAIT, [f"{max(1, int(wait * 1000))}ms"])
            connection.execute(_LOCK_ALL, _values(fences))
            renewed = _renew(connection, fences, lease_seconds)
    except (LockNotAvailable, QueryCanceled):
        renewed = _renew(connection, fences, lease_seconds)
    # Busy is not lost: its own run is writing at this moment, and the lease still stands.
    standing = _standing(connection, _without(fences, renewed))
    return Renewed(held=renewed | standing.held, given_back=standing.given_back)


def _values(fences: Collection[Fence]) -> dict[str, object]:
    return {
        "execution_ids": [fence.execution_id for fence in fences],
        "request_ids": [fence.request_id for fence in fences],
        "owners": [fence.owner for fence in fences],
        "tokens": [fence.token for fence in fences],
    }


def _without(fences: Collection[Fence], renewed: frozenset[ExecutionId]) -> list[Fence]:
    return [fence for fence in fences if fence.execution_id not in renewed]
