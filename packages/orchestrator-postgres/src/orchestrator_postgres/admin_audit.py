"""Write administrative acts, in the transaction of what they did."""

from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb

_WRITE = sql_file("core/add_admin_fact")


async def write_admin_fact(connection: StoreConnection, fact: AdminFact) -> None:
    """Add the act, with the checksum that its flow has by now."""
    await connection.execute(
        _WRITE,
        {
            "action": fact.action,
            "actor": fact.actor,
            "flow": fact.flow_id,
            "type": fact.type_key,
            "correlation": fact.correlation_id,
            "detail": jsonb(fact.detail),
        },
    )
