"""What faults of the driver become, and that nothing of what they quote gets through."""

import psycopg
import pytest
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.errors import OrchestratorError, StorageUnavailable
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.fault_translation import StorageRefused, TransientFault, translated_faults


@pytest.mark.parametrize(
    ("fault", "becomes"),
    [
        (errors.SerializationFailure, TransientFault),
        (errors.DeadlockDetected, TransientFault),
        (errors.AdminShutdown, TransientFault),
        (errors.CannotConnectNow, TransientFault),
        (errors.ConnectionFailure, TransientFault),
        (errors.ReadOnlySqlTransaction, TransientFault),
        (errors.LockNotAvailable, TransientFault),
        (errors.IdleInTransactionSessionTimeout, TransientFault),
        (errors.TooManyConnections, TransientFault),
        (psycopg.OperationalError, TransientFault),
        (psycopg.InterfaceError, TransientFault),
        (PoolTimeout, StorageUnavailable),
        (PoolClosed, StorageUnavailable),
        (errors.QueryCanceled, StorageUnavailable),
        (errors.DiskFull, StorageUnavailable),
        (errors.CheckViolation, StorageRefused),
        (errors.UniqueViolation, StorageRefused),
        (errors.UndefinedTable, StorageRefused),
        (errors.InsufficientPrivilege, StorageRefused),
    ],
)
def test_a_fault_of_the_driver_becomes_one_of_three(
    fault: type[psycopg.Error], becomes: type[Exception]
) -> None:
    with pytest.raises(becomes) as raised, translated_faults():
        raise fault("Key (email)=(ada@example.org) already exists.")
    assert "ada@example.org" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_what_is_not_the_driver_s_passes_as_it_is() -> None:
    with pytest.raises(ValueError, match="mine"), translated_faults():
        raise ValueError("mine")


async def test_a_refusal_names_the_state_and_the_constraint_and_no_value(harness: PostgresHarness) -> None:
    statement = b"INSERT INTO orchestrator.request_type (type_key, revision) VALUES ('ada@example.org', -1)"
    async with harness.engine.connection() as connection:
        with pytest.raises(StorageRefused) as refused, translated_faults():
            await connection.execute(statement)
    assert str(refused.value) == (
        "The store refused a statement (SQLSTATE 23514, constraint request_type_revision_check)."
    )


async def test_only_transient_faults_are_tried_again() -> None:
    tries: list[int] = []

    async def work(number: int) -> None:
        tries.append(number)
        raise errors.SerializationFailure if number == 1 else errors.CheckViolation

    with pytest.raises(StorageRefused):
        await retried(work)
    assert tries == [1, 2]


async def test_the_number_of_tries_is_bounded() -> None:
    tries: list[int] = []

    async def work(number: int) -> None:
        tries.append(number)
        raise errors.DeadlockDetected

    with pytest.raises(StorageUnavailable):
        await retried(work, attempts_max=3)
    assert tries == [1, 2, 3]


async def test_an_error_of_the_work_is_not_tried_again() -> None:
    tries: list[int] = []

    async def work(number: int) -> None:
        tries.append(number)
        raise OrchestratorError("This is the answer.")

    with pytest.raises(OrchestratorError, match="This is the answer"):
        await retried(work)
    assert tries == [1]
