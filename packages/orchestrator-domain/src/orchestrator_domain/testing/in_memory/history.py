"""Facts appended to a request's chain, and the chain read back."""

from attrs import evolve

from orchestrator_domain.audit import AuditEntry, AuditFact, link
from orchestrator_domain.identifiers import RequestId
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
