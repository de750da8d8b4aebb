"""Flow versions and request types, inside one transaction."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import RequestType, StoredFlow
from orchestrator_domain.identifiers import CorrelationId, FlowId, RequestTypeKey, Revision, Subject


@frozen(kw_only=True)
class AdminFact:
    """One administrative act, as admin_audit keeps it."""

    action: str
    actor: Subject
    flow_id: FlowId | None = None
    type_key: RequestTypeKey | None = None
    correlation_id: CorrelationId | None = None
    detail: JsonObject


class FlowStore(Protocol):
    """Keep flow versions.

    Promises: `add` raises DuplicateFlowVersion when key and version exist already. `lock` waits for other writers and
    then reads what they committed; `lock_shared` does so against writers only. `save` compares `before` with the
    stored revision and raises RevisionMismatch if it moved. A published definition can't change, whoever asks.
    Every change is written together with its AdminFact.
    """

    async def add(self, flow: StoredFlow, fact: AdminFact) -> StoredFlow: ...

    async def find(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def list_versions(self) -> Sequence[StoredFlow]: ...

    async def lock(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def lock_shared(self, flow_id: FlowId) -> StoredFlow | None: ...

    async def save(self, flow: StoredFlow, *, before: Revision, fact: AdminFact) -> StoredFlow: ...


class RequestTypeStore(Protocol):
    """Keep request types.

    Promises: as FlowStore. A type is locked before its flow. `add` returns False when the key exists already.
    """

    async def find(self, key: RequestTypeKey) -> RequestType | None: ...

    async def lock(self, key: RequestTypeKey) -> RequestType | None: ...

    async def lock_shared(self, key: RequestTypeKey) -> RequestType | None: ...

    async def add(self, request_type: RequestType, fact: AdminFact) -> bool: ...

    async def save(self, request_type: RequestType, *, before: Revision, fact: AdminFact) -> RequestType: ...
