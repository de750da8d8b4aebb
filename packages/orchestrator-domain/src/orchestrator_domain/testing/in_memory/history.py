"""Facts appended to a request's chain, and the chain read back."""

from collections.abc import Sequence
from itertools import islice

from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditFact, link
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.ports.history import HistoryFilter, HistoryReader
from orchestrator_domain.testing.in_memory.rows import RequestRow
from orchestrator_domain.testing.in_memory.store import InMemoryStore, Session


def append_fact(session: Session, row: RequestRow, fact: AuditFact) -> None:
    """Store the request with the fact as the newest entry of its history."""
    entry = _entry(row, fact, session)
    session.history.put((row.request.id, entry.sequence), entry)
    session.requests.put(row.request.id, evolve(row, audit_sequence=entry.sequence, audit_head=entry.head))


def history(store: InMemoryStore, request_id: RequestId) -> tuple[AuditEntry, ...]:
    """Return the request's whole history in order of sequence; empty for an unknown request."""
    row = store.requests.rows.get(request_id)
    length = 0 if row is None else row.audit_sequence
    return tuple(store.history.rows[request_id, sequence] for sequence in range(1, length + 1))


class InMemoryHistory(HistoryReader):
    """Read the histories that a session sees."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def entries(
        self, request_id: RequestId, actor: Actor, *, wanted: HistoryFilter, after: int, limit: int
    ) -> Sequence[AuditEntry] | None:
        row = self._session.requests.get(request_id)
        if row is None or not actor.may_see(owner=row.request.owner, scope=row.request.scope):
            return None
        places = range(after + 1, row.audit_sequence + 1)
        entries = (self._session.history.get((request_id, place)) for place in places)
        return list(islice((entry for entry in entries if entry and _is_wanted(entry, wanted)), limit))


def _is_wanted(entry: AuditEntry, wanted: HistoryFilter) -> bool:
    return (
        wanted.kind in (None, entry.kind)
        and wanted.execution_id in (None, entry.execution_id)
        and (wanted.since is None or wanted.since <= entry.created_at)
        and (wanted.until is None or entry.created_at < wanted.until)
    )


def _entry(row: RequestRow, fact: AuditFact, session: Session) -> AuditEntry:
    created_at = session.clock.now()
    sequence = row.audit_sequence + 1
    content = fact.content_hash(row.request.id)
    return AuditEntry(
        id=fact.id,
        request_id=row.request.id,
        sequence=sequence,
        kind=fact.kind,
        actor=fact.actor,
        flow_id=fact.flow_id,
        execution_id=fact.execution_id,
        from_state=fact.from_state,
        to_state=fact.to_state,
        detail=fact.detail,
        salt=fact.salt,
        detail_hash=fact.detail_hash(),
        head=link(head=row.audit_head, sequence=sequence, created_at=created_at, content=content),
        created_at=created_at,
    )
