"""Flow versions and request types, inside one transaction."""

from collections.abc import Sequence
from typing import Final, Protocol

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus, FlowSummary, RequestType, StoredFlow
from orchestrator_domain.identifiers import (
    CorrelationId,
    FlowId,
    FlowKey,
    RequestTypeKey,
    Revision,
    Subject,
)

LISTED_MAX: Final = 100
"""The most that one look at a list returns."""


@frozen(kw_only=True)
class AdminFact:
    """One administrative act, as admin_audit keeps it."""

    action: str
    actor: Subject
    flow_id: FlowId | None = None
    type_key: RequestTypeKey | None = None
    correlation_id: CorrelationId | None = None
    detail: JsonObject


@frozen(kw_only=True)
class FlowFilter:
    """Which versions to list; what isn't said doesn't matter."""

    flow_key: FlowKey | None = None
    status: FlowStatus | None = None


@frozen(kw_only=True)
class FlowPosition:
    """A place in the list of versions: right behind this one, whether it still exists or not."""

    flow_key: FlowKey
    version: int


EVERY_FLOW: Final = FlowFilter()


class FlowStore(Protocol):
    """Keep flow versions.

    Promises: `add` raises DuplicateFlowVersion when key and version exist already. `lock` waits for other writers and
    then reads what they committed; `lock_shared` does so against writers only. `save` compares `before` with the
    stored revision and raises RevisionMismatch if it moved. A published definition can't change, whoever asks.
    Every change is written together with its AdminFact. `list_versions` goes by the code points of the key and then by
    the version, begins behind `after`, and returns at most `limit`.
    """

    async def add(self, flow: StoredFlow, fact: AdminFact) -> StoredFlow: ...

    async def find(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def list_versions(
        self,
        *,
        matching: FlowFilter = EVERY_FLOW,
        after: FlowPosition | None = None,
        limit: int = LISTED_MAX,
    ) -> Sequence[FlowSummary]: ...

    async def lock(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def lock_shared(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def save(self, flow: StoredFlow, *, before: Revision, fact: AdminFact) -> StoredFlow: ...


class RequestTypeStore(Protocol):
    """Keep request types.

    Promises: as FlowStore; `list_types` goes by the code points of the key. A type is locked before its flow. `add`
    returns False when the key exists already.
    """

    async def find(self, key: RequestTypeKey) -> RequestType | None: ...

    async def list_types(
        self, *, after: RequestTypeKey | None = None, limit: int = LISTED_MAX
    ) -> Sequence[RequestType]: ...

    async def lock(self, key: RequestTypeKey) -> RequestType | None: ...

    async def lock_shared(self, key: RequestTypeKey) -> RequestType | None: ...

    async def add(self, request_type: RequestType, fact: AdminFact) -> bool: ...

    async def save(self, request_type: RequestType, *, before: Revision, fact: AdminFact) -> RequestType: ...
