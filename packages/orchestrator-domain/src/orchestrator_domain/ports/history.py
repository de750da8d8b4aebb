"""The histories of requests as readers page through them, inside one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.identifiers import ExecutionId, RequestId


@frozen(kw_only=True)
class HistoryFilter:
    """Which entries are wanted; None leaves a question open. `since` is inclusive, `until` exclusive."""

    kind: AuditKind | None = None
    execution_id: ExecutionId | None = None
    since: datetime | None = None
    until: datetime | None = None


EVERY_ENTRY = HistoryFilter()


class HistoryReader(Protocol):
    """Read histories.

    Promises: None unless the actor sees the request, filtered by owner and scope where rows are read. Otherwise at most
    `limit` entries whose sequence is above `after`, in order of sequence, each as it was written but for detail and salt
    that have been erased. Entries are only ever added at the end, so going on behind the last one that was read misses
    and repeats nothing.
    """

    async def entries(
        self, request_id: RequestId, actor: Actor, *, wanted: HistoryFilter, after: int, limit: int
    ) -> Sequence[AuditEntry] | None: ...
