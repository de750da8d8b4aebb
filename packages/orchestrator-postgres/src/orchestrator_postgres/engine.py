"""Connections to PostgreSQL, set up alike: exact JSON, UTC, bounded waits."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from time import monotonic
from types import MappingProxyType
from typing import Any, Self, cast

import psycopg
from attrs import evolve, field, frozen
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_postgres.connection_url import driver_url
from orchestrator_postgres.fault_translation import leads_to_a_standby
from orchestrator_postgres.overdue_answer import broken_off_after
from orchestrator_postgres.stored_json import load_stored

# A connection that has been used this recently is taken for alive; if it isn't, the work is retried.
_TRUSTED_SECONDS = 1.0


@frozen(kw_only=True)
class ConnectionSettings:
    """Where the database is and how long anything may take. All times in seconds.

    `application_name` is what pg_stat_activity shows. `looks_rows_up` is for connections whose every statement finds its
    rows by key: they keep one plan per statement, by index, whatever the statistics say of a table that was empty when
    they were taken. `makes_whole_trips` is for connections of `one_trip`, on which psycopg prepares nothing: after a
    rollback it has the server forget every prepared statement, of whomever.
    """

    url: str = field(repr=False)
    application_name: str = "orchestrator"
    connect_timeout_seconds: int = 5
    lock_timeout_seconds: float = 10.0
    statement_timeout_seconds: float = 30.0
    looks_rows_up: bool = False
    makes_whole_trips: bool = False

    @property
    def answer_seconds_max(self) -> float:
        """Return how long a short transaction may take before its connection counts as one that never answers.

        The server ends a statement that takes longer than half of it.
        """
        return 2 * self.statement_timeout_seconds

    def arguments(self) -> Mapping[str, Any]:
        """Return what psycopg's `connect` takes."""
        return {
            "conninfo": driver_url(self.url),
            "application_name": self.application_name,
            # Whatever the role, the URL or the environment says: what is stored is hashed in UTF-8.
            "client_encoding": "UTF8",
            "connect_timeout": self.connect_timeout_seconds,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": int(self.statement_timeout_seconds * 1000),
            **({"prepare_threshold": None} if self.makes_whole_trips else {}),
            "options": " ".join(f"-c {name}={value}" for name, value in self._session().items()),
        }

    def _session(self) -> Mapping[str, str]:
        return {
            "default_transaction_isolation": r"read\ committed",
            "idle_in_transaction_session_timeout": f"{int(self.answer_seconds_max * 1000)}ms",
            "lock_timeout": f"{int(self.lock_timeout_seconds * 1000)}ms",
            "statement_timeout": f"{int(self.statement_timeout_seconds * 1000)}ms",
            "TimeZone": "UTC",
            **({**_BY_KEY, **self._bounded()} if self.looks_rows_up else {}),
        }

    def _bounded(self) -> Mapping[str, str]:
        # In a pipeline a session isn't idle until it is asked to come to an end: whoever is stopped before that would hold
        # what it has locked for as long as it is stopped.
        return {"transaction_timeout": f"{int(self.answer_seconds_max * 1000)}ms"}


_BY_KEY: Mapping[str, str] = MappingProxyType(
    {
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_material": "off",
        "enable_mergejoin": "off",
        "jit": "off",
        "plan_cache_mode": "force_generic_plan",
    }
)


class StoreConnection(AsyncConnection[DictRow]):
    """A connection that remembers when it was last given back, and which statements of whole trips it has prepared."""

    given_back: float = 0.0

    @cached_property
    def prepared(self) -> set[bytes]:
        """Return the names, kept by whoever prepares under them."""
        return set()


async def connect(settings: ConnectionSettings) -> StoreConnection:
    """Open one connection, in autocommit mode, with rows as mappings."""
    connection = await StoreConnection.connect(
        autocommit=True, row_factory=cast("Any", dict_row), **settings.arguments()
    )
    use_exact_json(connection)
    return connection


def use_exact_json(connection: psycopg.abc.AdaptContext) -> None:
    """Write and read jsonb without a float in between."""
    set_json_dumps(dump_json, context=connection)
    set_json_loads(load_stored, context=connection)


@frozen(kw_only=True)
class PoolUse:
    """How a pool's connections stand at this moment (busy: lent or being opened), and how many callers wait for one."""

    busy: int
    idle: int
    waiting: int
    connections_max: int


class PostgresEngine:
    """Lend connections to stories and readers.

    To be opened and closed on the event loop that uses it. A lent connection is alive, or was a second ago; it is for
    short transactions, and broken off where one is not answered. When none comes free in time, PoolTimeout is raised,
    which `fault_translation` turns into StorageUnavailable.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        connections_max: int = 10,
        connections_min: int = 1,
        checkout_timeout_seconds: float = 5.0,
    ) -> None:
        self._pool = _pool(settings, connections_min, connections_max, checkout_timeout_seconds)
        self._answer_seconds_max = settings.answer_seconds_max
        self._by_key = _pool(evolve(settings, looks_rows_up=True), 0, 1, checkout_timeout_seconds)

    async def open(self) -> None:
        """Start to make connections; doesn't wait for the first, so that a start survives a database that is down."""
        await self._pool.open(wait=False)
        await self._by_key.open(wait=False)

    async def close(self) -> None:
        await self._by_key.close()
        await self._pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def pool_use(self) -> PoolUse:
        """Tell how the pool is used, without asking the database."""
        stats = self._pool.get_stats()
        idle = stats.get("pool_available", 0)
        return PoolUse(
            busy=stats.get("pool_size", 0) - idle,
            idle=idle,
            waiting=stats.get("requests_waiting", 0),
            connections_max=self._pool.max_size,
        )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[StoreConnection]:
        """Lend a connection in autocommit mode."""
        async with self._lent(self._pool) as connection:
            yield connection

    @asynccontextmanager
    async def connection_by_key(self) -> AsyncIterator[StoreConnection]:
        """Lend the one connection that `looks_rows_up`, which is opened at its first use, beside the others."""
        async with self._lent(self._by_key) as connection:
            yield connection

    @asynccontextmanager
    async def _lent(self, pool: AsyncConnectionPool[StoreConnection]) -> AsyncIterator[StoreConnection]:
        async with pool.connection() as connection:
            try:
                with broken_off_after(connection, self._answer_seconds_max):
                    yield connection
            except BaseException as fault:
                if leads_to_a_standby(fault):
                    await connection.close()
                raise


def _pool(
    settings: ConnectionSettings, connections_min: int, connections_max: int, timeout_seconds: float
) -> AsyncConnectionPool[StoreConnection]:
    return AsyncConnectionPool(
        connection_class=StoreConnection,
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            **{name: value for name, value in settings.arguments().items() if name != "conninfo"},
        },
        conninfo=settings.arguments()["conninfo"],
        min_size=connections_min,
        max_size=connections_max,
        timeout=timeout_seconds,
        # It stops trying with those who have asked, and the next who asks begins anew: otherwise each failed try doubles the
        # pause before the next, and a database that was away for minutes is found again only minutes after it is back.
        reconnect_timeout=timeout_seconds,
        configure=_configure,
        # Half of the time, so that the other half is left for a new connection in place of one that doesn't answer.
        check=partial(_check, answer_seconds_max=timeout_seconds / 2),
        reset=_reset,
        name=settings.application_name,
        open=False,
    )


async def _configure(connection: StoreConnection) -> None:
    use_exact_json(connection)


async def _check(connection: StoreConnection, *, answer_seconds_max: float) -> None:
    if monotonic() - connection.given_back > _TRUSTED_SECONDS:
        with broken_off_after(connection, answer_seconds_max):
            await AsyncConnectionPool.check_connection(connection)


async def _reset(connection: StoreConnection) -> None:
    connection.given_back = monotonic()
