"""One transaction around a story, told again when PostgreSQL couldn't finish it."""

from collections.abc import Awaitable, Callable
from functools import cached_property

import psycopg
from attrs import define

from orchestrator_domain.ports.event_judgement import AddressedEvent, AnsweredEvent, Judge
from orchestrator_domain.ports.flow_store import FlowStore, RequestTypeStore
from orchestrator_domain.ports.history import HistoryReader
from orchestrator_domain.ports.reconciliation_store import ReconciliationStore
from orchestrator_domain.ports.request_store import RequestStore
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_postgres.acceptance_lane import PATIENCE_SECONDS, AcceptanceLane
from orchestrator_postgres.bounded_retry import ATTEMPTS_MAX, retried
from orchestrator_postgres.engine import PostgresEngine, StoreConnection
from orchestrator_postgres.fault_translation import ROLLED_BACK_STATES, unavailable
from orchestrator_postgres.flow_store import PostgresFlowStore
from orchestrator_postgres.history import PostgresHistory
from orchestrator_postgres.reconciliation_store import PostgresReconciliationStore
from orchestrator_postgres.request_store import PostgresRequestStore
from orchestrator_postgres.request_type_store import PostgresRequestTypeStore


@define(slots=False, frozen=True)
class PostgresTransaction(Transaction):
    """Give access to the stores in the transaction of one connection."""

    _connection: StoreConnection

    @cached_property
    def requests(self) -> RequestStore:
        return PostgresRequestStore(self._connection)

    @cached_property
    def history(self) -> HistoryReader:
        return PostgresHistory(self._connection)

    @cached_property
    def flows(self) -> FlowStore:
        return PostgresFlowStore(self._connection)

    @cached_property
    def request_types(self) -> RequestTypeStore:
        return PostgresRequestTypeStore(self._connection)

    @cached_property
    def reconciliation(self) -> ReconciliationStore:
        return PostgresReconciliationStore(self._connection)


class PostgresUnitOfWork(UnitOfWork):
    """Run stories at READ COMMITTED, on connections of an engine; events that come at one moment share a transaction."""

    def __init__(
        self,
        engine: PostgresEngine,
        *,
        attempts_max: int = ATTEMPTS_MAX,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._engine = engine
        self._attempts_max = attempts_max
        self._acceptances = AcceptanceLane(
            engine, alone=super().judge_event, patience_seconds=patience_seconds
        )

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async def told(_: int) -> Result:
            async with self._engine.connection() as connection, connection.transaction():
                return await story(PostgresTransaction(connection))

        return await retried(told, attempts_max=self._attempts_max)

    async def run_once[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async def told(_: int) -> Result:
            async with self._engine.connection() as connection:
                return await _told_once(connection, story)

        return await retried(told, attempts_max=self._attempts_max)

    async def judge_event(self, event: AddressedEvent, judge: Judge) -> AnsweredEvent:
        return await self._acceptances.settle(event, judge)


async def _told_once[Result](
    connection: StoreConnection, story: Callable[[Transaction], Awaitable[Result]]
) -> Result:
    """Tell a story in one transaction; raise StorageUnavailable if its COMMIT may have been carried out unheard."""
    committing = False
    try:
        async with connection.transaction():
            result = await story(PostgresTransaction(connection))
            committing = True
    except psycopg.Error as fault:
        if committing and fault.sqlstate not in ROLLED_BACK_STATES:
            raise unavailable() from None
        raise
    return result
