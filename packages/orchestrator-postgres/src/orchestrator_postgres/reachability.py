"""Whether a database answers at all, asked without a password."""

import asyncio

import psycopg
from psycopg import pq

from orchestrator_domain.errors import OrchestratorError
from orchestrator_postgres.connection_url import driver_url
from orchestrator_postgres.engine import ConnectionSettings


class DatabaseUnreachable(OrchestratorError):
    """Nothing that takes connections answers at this address now; it may later."""

    code = "DATABASE_UNREACHABLE"


async def connection_fault(settings: ConnectionSettings, fault: Exception) -> str:
    """Say what is wrong with a URL whose server answers and refuses it.

    Raises DatabaseUnreachable where none answers, or one that is starting: then nothing is known of the URL's other parts.
    """
    state = getattr(fault, "sqlstate", None) or type(fault).__name__
    match await asyncio.to_thread(_ping, settings):
        case pq.Ping.NO_RESPONSE:
            raise DatabaseUnreachable(
                "No database answers at the address in this URL: start it, or check host, port and network."
            ) from None
        case pq.Ping.REJECT:
            raise DatabaseUnreachable(
                "The database is starting or stopping and takes no connections yet."
            ) from None
        case pq.Ping.NO_ATTEMPT:
            return f"This URL can't be tried ({state}): check its form and the names and values of its parameters."
        case _:
            return (
                f"The database answers and can't be used with this URL ({state}): check role, password and name of the "
                "database, and whether it has connections left."
            )


def _ping(settings: ConnectionSettings) -> int:
    try:
        conninfo = psycopg.conninfo.make_conninfo(
            driver_url(settings.url), connect_timeout=settings.connect_timeout_seconds
        )
    except psycopg.ProgrammingError:
        return pq.Ping.NO_ATTEMPT
    return pq.PGconn.ping(conninfo.encode())
