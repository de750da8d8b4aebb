"""What the driver's faults mean: try again, unavailable, or refused; and nothing of what they quote."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from orchestrator_domain.errors import FlowNotDraft, OrchestratorError, StorageUnavailable

_RETRIABLE_STATES = frozenset(
    {
        "25006",  # read-only transaction: the connection leads to a standby
        "25P03",  # the transaction was idle for too long, as after the process was stopped
        "25P04",  # the transaction took too long, as after the process was stopped
        "40001",  # serialization failure
        "40P01",  # deadlock
        "53300",  # too many connections
        "55P03",  # lock not available in time
        "57P01",  # the server shuts down
        "57P02",  # the server has crashed
        "57P03",  # the server is starting
        "57P05",  # the session was idle for too long
    }
)
ROLLED_BACK_STATES = frozenset({"40001", "40P01"})
"""What a COMMIT is refused with: nothing of its transaction is stored, for certain."""

_UNAVAILABLE_STATES = frozenset({"57014"})  # the statement took too long
_CONNECTION_CLASS = "08"
_RESOURCES_CLASSES = ("53", "58")

# Two stories met where a lock should have kept them apart; told again, the second one sees what the first has written.
_RACED_CONSTRAINTS = frozenset({"uq_request_active_execution", "execution_request_id_idempotency_key_key"})
_SEALED_CONSTRAINTS = frozenset({"flow_definition_immutable", "flow_definition_lifecycle"})


class TransientFault(Exception):
    """A conflict between transactions or a broken connection: the same work may succeed when it is done again."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__(f"PostgreSQL could not finish the transaction (SQLSTATE {sqlstate or 'none'}).")
        self.sqlstate = sqlstate


class StorageRefused(OrchestratorError):
    """PostgreSQL refused a statement for a reason that repeating it won't change."""

    def __init__(self, *, sqlstate: str | None, constraint: str | None) -> None:
        named = f", constraint {constraint}" if constraint else ""
        super().__init__(f"The store refused a statement (SQLSTATE {sqlstate or 'none'}{named}).")
        self.sqlstate = sqlstate
        self.constraint = constraint


@contextmanager
def translated_faults() -> Iterator[None]:
    """Turn driver faults into TransientFault, StorageUnavailable and StorageRefused.

    Only SQLSTATE and constraint names are kept: a driver's text quotes rows, which may hold personal data.
    """
    try:
        yield
    except (PoolTimeout, PoolClosed, TooManyRequests):
        # First, since they are OperationalErrors themselves.
        raise unavailable() from None
    except psycopg.Error as fault:
        raise _translation(fault) from None


def unavailable() -> StorageUnavailable:
    return StorageUnavailable("The store did not answer; the command may be repeated with the same key.")


def leads_to_a_standby(fault: BaseException) -> bool:
    """Tell a fault after which the connection must not be used again, although it works."""
    return isinstance(fault, psycopg.errors.ReadOnlySqlTransaction)


def _translation(fault: psycopg.Error) -> Exception:
    sqlstate, constraint = fault.sqlstate, fault.diag.constraint_name
    if _is_transient(fault):
        return TransientFault(sqlstate)
    if sqlstate in _UNAVAILABLE_STATES or (sqlstate or "").startswith(_RESOURCES_CLASSES):
        return unavailable()
    if constraint in _SEALED_CONSTRAINTS:
        return FlowNotDraft(
            "This flow version is published, so it can't be changed; create a new version instead."
        )
    return StorageRefused(sqlstate=sqlstate, constraint=constraint)


def _is_transient(fault: psycopg.Error) -> bool:
    sqlstate = fault.sqlstate
    if sqlstate is None:
        return isinstance(fault, (psycopg.OperationalError, psycopg.InterfaceError))
    if fault.diag.constraint_name in _RACED_CONSTRAINTS:
        return True
    return sqlstate in _RETRIABLE_STATES or sqlstate.startswith(_CONNECTION_CLASS)
