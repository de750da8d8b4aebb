"""Whether a process may serve from a database at all: asked once, before anything listens."""

from collections.abc import Callable

import psycopg
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.reachability import DatabaseUnreachable, connection_fault
from orchestrator_postgres.runtime_role import check_guards, check_runtime_role
from orchestrator_postgres.schema_revision import schema_fault


async def start_faults(settings: ConnectionSettings) -> tuple[str, ...]:
    """Return a sentence for each reason not to start.

    A URL that is refused is one, and so are a foreign schema, a role that may do too much, and a guard that is switched off.
    Raises DatabaseUnreachable where no database answers.
    """
    try:
        async with await connect(settings) as connection:
            outdated = await schema_fault(connection)
            return (
                *(() if outdated is None else (outdated,)),
                *await check_runtime_role(connection),
                *await check_guards(connection),
            )
    except (psycopg.Error, OSError) as fault:
        return (await connection_fault(settings, fault),)


async def awaited_start_faults(
    settings: ConnectionSettings, *, wait_seconds: float, waiting: Callable[[str], None]
) -> tuple[str, ...]:
    """Do as `start_faults`, and ask again for a while as long as no database answers; `waiting` is told each time."""

    def tell(state: RetryCallState) -> None:
        fault = None if state.outcome is None else state.outcome.exception()
        waiting(fault.message if isinstance(fault, DatabaseUnreachable) else "")

    attempts = AsyncRetrying(
        retry=retry_if_exception_type(DatabaseUnreachable),
        stop=stop_after_delay(wait_seconds),
        wait=wait_random_exponential(multiplier=0.2, max=5.0),
        before_sleep=tell,
        reraise=True,
    )
    return await attempts(start_faults, settings)
