"""Erase personal data of requests, as the role that may do that and nothing else."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Final

import psycopg
from attrs import field, frozen

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.errors import OrchestratorError, StorageUnavailable
from orchestrator_domain.identifiers import FlowId, RequestId, Revision
from orchestrator_domain.request.erasure import PersonalData, RetentionRule
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.engine import ConnectionSettings, StoreConnection, connect
from orchestrator_postgres.row_mapping import Row
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_values import document, text, uuid, whole

_DUE = sql_file("retention_due")
_COUNTS = sql_file("retention_counts")
_ERASE = sql_file("erase_personal_data")
_MAY_ERASE: Final = b"""
SELECT
  EXISTS (
    SELECT FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = 'orchestrator' AND proname = 'erase_personal_data'
  ) AS is_there,
  EXISTS (
    SELECT FROM pg_roles WHERE rolname = 'orchestrator_retention' AND pg_has_role(session_user, oid, 'USAGE')
  ) AS may
"""


_STANDING: Final = b"""
SELECT
  EXISTS (
    SELECT FROM orchestrator.execution
    WHERE request_id = request.id AND status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  ) AS blocked,
  orchestrator.erased_parts(request.id) AS erased
FROM orchestrator.request_instance AS request
WHERE request.id = %(id)s
"""


class RetentionRefused(OrchestratorError):
    """The database can't be erased from: its schema is too old, or the role isn't the one for it."""

    code = "RETENTION_REFUSED"


class ErasureOutcome(StrEnum):
    """What became of one request; all but ERASED leave it as it was."""

    ERASED = "ERASED"
    MISSING = "MISSING"
    BUSY = "BUSY"
    MOVED = "MOVED"
    ACTIVE = "ACTIVE"
    OPEN = "OPEN"


@frozen(kw_only=True)
class Due:
    """A request of which something is to be erased, as it was found."""

    id: RequestId
    flow_id: FlowId
    revision: Revision
    erased: frozenset[PersonalData]


@frozen(kw_only=True)
class Standing:
    """What stands in the way of erasing a request, and what is erased of it already."""

    blocked: bool
    erased: frozenset[PersonalData]


@frozen(kw_only=True)
class PostgresRetention:
    """Find what rules mean, count it, erase it: in batches, each of one transaction that waits for no lock."""

    _connection: StoreConnection = field(alias="connection")

    async def due(
        self,
        rule: RetentionRule,
        *,
        limit: int,
        after: RequestId | None = None,
        only: RequestId | None = None,
    ) -> Sequence[Due]:
        """Return the next requests behind a place that the rule means, in the order of ids."""
        values = {
            "after": after,
            "request_id": only,
            "after_days": rule.after_days,
            "request_types": sorted(rule.request_types),
            "flows": sorted(rule.flows),
            "states": sorted(rule.states),
            "scopes": sorted(rule.scopes),
            "open_requests": rule.open_requests,
            "erase": sorted(part.value for part in rule.erase),
            "limit": limit,
        }

        async def read(_: int) -> Sequence[Row]:
            return await (await self._connection.execute(_DUE, values)).fetchall()

        return [_due_of(row) for row in await retried(read)]

    async def counts(self, requests: Sequence[Due]) -> Counter[str]:
        """Count the rows that hang on some requests, kind by kind."""
        row = await (
            await self._connection.execute(_COUNTS, {"ids": [each.id for each in requests]})
        ).fetchone()
        assert row is not None, "a SELECT of counts has one row"
        return Counter({name: int(count) for name, count in row.items()})

    async def standing(self, request_id: RequestId) -> Standing | None:
        row = await (await self._connection.execute(_STANDING, {"id": request_id})).fetchone()
        return None if row is None else Standing(blocked=row["blocked"], erased=_known(row["erased"]))

    async def erase(
        self, facts: Sequence[tuple[Due, AuditFact]], *, open_requests: bool
    ) -> Mapping[RequestId, ErasureOutcome]:
        """Erase what each fact says of its request, and append the fact; one transaction for all of them."""
        values = {
            **rows_parameter([erased_row(due, fact) for due, fact in facts]),
            "open_requests": open_requests,
        }

        async def write(_: int) -> Sequence[Row]:
            # Told again after a lost answer, what was erased has moved on: nothing is erased or recorded twice.
            async with self._connection.transaction():
                return await (await self._connection.execute(_ERASE, values)).fetchall()

        return {RequestId(row["id"]): ErasureOutcome(row["outcome"]) for row in await retried(write)}


@asynccontextmanager
async def opened_retention(url: str) -> AsyncIterator[PostgresRetention]:
    """Connect as the role of the URL; raise RetentionRefused where it may not erase, or StorageUnavailable."""
    settings = ConnectionSettings(
        url=url,
        application_name="orchestrator-retention",
        lock_timeout_seconds=2,
        # Looking for what is due may walk over everything that was erased before.
        statement_timeout_seconds=600,
    )
    try:
        async with await connect(settings) as connection:
            await _check_that_it_may(connection)
            yield PostgresRetention(connection=connection)
    except (psycopg.Error, OSError) as fault:
        state = getattr(fault, "sqlstate", None) or type(fault).__name__
        raise StorageUnavailable(
            f"The database can't be used with RETENTION_DATABASE_URL ({state}): check address, role and password."
        ) from None


async def _check_that_it_may(connection: StoreConnection) -> None:
    row = await (await connection.execute(_MAY_ERASE)).fetchone()
    if row is None or not row["is_there"]:
        raise RetentionRefused("The schema has no door for erasures yet: run the migrations.")
    if not row["may"]:
        raise RetentionRefused(
            "This role may not erase: RETENTION_DATABASE_URL names a member of orchestrator_retention."
        )


def _due_of(row: Row) -> Due:
    return Due(
        id=RequestId(row["id"]),
        flow_id=FlowId(row["flow_id"]),
        revision=Revision(row["revision"]),
        erased=_known(row["erased"]),
    )


def _known(parts: Sequence[str]) -> frozenset[PersonalData]:
    return frozenset(part for part in PersonalData if part in parts)


def erased_row(due: Due, fact: AuditFact) -> str:
    return (
        f'{{"id":{uuid(due.id)}'
        f',"revision":{whole(due.revision)}'
        f',"entry_id":{uuid(fact.id)}'
        f',"actor":{text(fact.actor)}'
        f',"detail":{document(fact.detail)}'
        f',"salt":{text(fact.salt)}'
        f',"detail_hash":{text(fact.detail_hash())}'
        f',"content_hash":{text(fact.content_hash(due.id))}'
        "}"
    )
