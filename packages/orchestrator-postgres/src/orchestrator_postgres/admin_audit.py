"""Write administrative acts, in the transaction of what they did."""

from sqlalchemy import bindparam, insert, select

from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.statements import compiled
from orchestrator_postgres.stored_json import jsonb
from orchestrator_postgres.tables import ADMIN_AUDIT, FLOW_DEFINITION

_WRITE = compiled(
    insert(ADMIN_AUDIT).values(
        action=bindparam("action"),
        actor_subject=bindparam("actor"),
        flow_id=bindparam("flow"),
        type_key=bindparam("type"),
        checksum=select(FLOW_DEFINITION.c.checksum)
        .where(FLOW_DEFINITION.c.id == bindparam("flow"))
        .scalar_subquery(),
        correlation_id=bindparam("correlation"),
        detail=bindparam("detail"),
    )
)


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
