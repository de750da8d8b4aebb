"""The facts that a request leaves behind, and the chain of hashes that proves them.

Each entry is linked to the one before it. The link covers a hash of the detail, salted per entry, so that detail and
salt can be erased later while the proof stays whole (protocol, History).
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256

from attrs import field, frozen

from orchestrator_domain.exact_json.canonical import canonical_bytes, sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import (
    AuditEntryId,
    ExecutionId,
    FlowId,
    RequestId,
    Sha256Hex,
    StateKey,
    Subject,
)

GENESIS_HEAD = Sha256Hex("0" * 64)
SYSTEM_SUBJECT = Subject("system")


class AuditKind(StrEnum):
    REQUEST_CREATED = "REQUEST_CREATED"
    EVENT_ACCEPTED = "EVENT_ACCEPTED"
    TRANSITION_COMPLETED = "TRANSITION_COMPLETED"
    ACTION_RETRY_SCHEDULED = "ACTION_RETRY_SCHEDULED"
    EFFECT_PROBED = "EFFECT_PROBED"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    RECONCILIATION_REQUIRED = "RECONCILIATION_REQUIRED"
    RECONCILIATION_RESOLVED = "RECONCILIATION_RESOLVED"
    PERSONAL_DATA_ERASED = "PERSONAL_DATA_ERASED"


@frozen(kw_only=True)
class AuditFact:
    """One thing that happened, before the store gives it a place in the request's history.

    `detail` holds rule ids, codes and keys, never a provider's raw answer. `salt` is 32 random hexadecimal digits.
    """

    id: AuditEntryId
    kind: AuditKind
    actor: Subject
    flow_id: FlowId
    execution_id: ExecutionId | None = None
    from_state: StateKey | None = None
    to_state: StateKey | None = None
    detail: JsonObject = field(factory=dict)
    salt: str

    def detail_hash(self) -> Sha256Hex:
        """Return SHA-256 of the salt and the canonical detail."""
        return detail_hash(self.salt, self.detail)

    def content_hash(self, request_id: RequestId) -> Sha256Hex:
        """Return SHA-256 over everything but place and time, which the store adds with `link`."""
        return self.hashes(request_id).content

    def hashes(self, request_id: RequestId) -> "FactHashes":
        """Return both hashes; the one of the content covers the other."""
        detail = self.detail_hash()
        content = content_hash(
            request_id=request_id,
            entry_id=self.id,
            kind=self.kind,
            actor=self.actor,
            flow_id=self.flow_id,
            execution_id=self.execution_id,
            from_state=self.from_state,
            to_state=self.to_state,
            detail_hash=detail,
        )
        return FactHashes(detail=detail, content=content)


@frozen(kw_only=True)
class FactHashes:
    """What the chain knows of a fact: the hash of its detail, and the one over all of it."""

    detail: Sha256Hex
    content: Sha256Hex


@frozen(kw_only=True)
class AuditEntry:
    """One stored entry. `detail` and `salt` are None once erased; `head` is the chain's value after this entry."""

    id: AuditEntryId
    request_id: RequestId
    sequence: int
    kind: AuditKind
    actor: Subject
    flow_id: FlowId
    execution_id: ExecutionId | None
    from_state: StateKey | None
    to_state: StateKey | None
    detail: JsonObject | None
    salt: str | None
    detail_hash: Sha256Hex
    head: Sha256Hex
    created_at: datetime


def detail_hash(salt: str, detail: JsonObject) -> Sha256Hex:
    return Sha256Hex(sha256(salt.encode() + b"\n" + canonical_bytes(detail)).hexdigest())


def content_hash(
    *,
    request_id: RequestId,
    entry_id: AuditEntryId,
    kind: AuditKind,
    actor: Subject,
    flow_id: FlowId,
    execution_id: ExecutionId | None,
    from_state: StateKey | None,
    to_state: StateKey | None,
    detail_hash: Sha256Hex,
) -> Sha256Hex:
    content: dict[str, JsonValue] = {
        "requestId": str(request_id),
        "entryId": str(entry_id),
        "kind": str(kind),
        "actor": actor,
        "flowId": str(flow_id),
        "executionId": None if execution_id is None else str(execution_id),
        "fromState": from_state,
        "toState": to_state,
        "detailHash": detail_hash,
    }
    return Sha256Hex(sha256_hex(content))


def link(*, head: Sha256Hex, sequence: int, created_at: datetime, content: Sha256Hex) -> Sha256Hex:
    """Return the chain's next head: SHA-256 of four lines (previous head, sequence, UTC microseconds, content)."""
    text = f"{head}\n{sequence}\n{chain_time(created_at)}\n{content}"
    return Sha256Hex(sha256(text.encode()).hexdigest())


def chain_time(moment: datetime) -> str:
    """Return `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the form of time that the chain hashes."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@frozen(kw_only=True)
class ChainBreak:
    """The first entry whose link doesn't hold."""

    sequence: int
    reason: str


def verify_chain(entries: Iterable[AuditEntry], *, stored_head: Sha256Hex | None = None) -> ChainBreak | None:
    """Check one request's whole history, in order of `sequence`; return the first break, or None.

    `stored_head` is the head that the request itself keeps; without it a history cut off at its end looks whole.
    """
    head, expected = GENESIS_HEAD, 0
    for expected, entry in enumerate(entries, start=1):
        reason = _broken(entry, expected, head)
        if reason is not None:
            return ChainBreak(sequence=entry.sequence, reason=reason)
        head = entry.head
    if stored_head is not None and head != stored_head:
        return ChainBreak(
            sequence=expected + 1, reason="The history ends before the head that its request keeps."
        )
    return None


def _broken(entry: AuditEntry, expected: int, head: Sha256Hex) -> str | None:
    if entry.sequence != expected:
        return f"The entry numbered {expected} is missing."
    if (entry.detail is None) is not (entry.salt is None):
        return "Only one of detail and salt is erased; an erasure takes both."
    if (
        entry.detail is not None
        and entry.salt is not None
        and (detail_hash(entry.salt, entry.detail) != entry.detail_hash)
    ):
        return "The detail does not match its hash."
    content = content_hash(
        request_id=entry.request_id,
        entry_id=entry.id,
        kind=entry.kind,
        actor=entry.actor,
        flow_id=entry.flow_id,
        execution_id=entry.execution_id,
        from_state=entry.from_state,
        to_state=entry.to_state,
        detail_hash=entry.detail_hash,
    )
    if link(head=head, sequence=expected, created_at=entry.created_at, content=content) != entry.head:
        return "The link to the entry before it does not hold."
    return None
