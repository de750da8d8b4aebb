"""Flow versions and request types in one session."""

from collections.abc import Sequence

from attrs import evolve

from orchestrator_domain.errors import DuplicateFlowVersion, FlowNotDraft, RevisionMismatch
from orchestrator_domain.flow.lifecycle import FlowStatus, FlowSummary, RequestType, StoredFlow
from orchestrator_domain.identifiers import FlowId, RequestTypeKey, Revision
from orchestrator_domain.ports.flow_store import (
    EVERY_FLOW,
    LISTED_MAX,
    AdminFact,
    FlowFilter,
    FlowPosition,
    FlowStore,
    RequestTypeStore,
)
from orchestrator_domain.testing.in_memory.store import Session


class InMemoryFlowStore(FlowStore):
    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, flow: StoredFlow, fact: AdminFact) -> StoredFlow:
        name = (flow.flow_key, flow.version)
        if self._session.flow_versions.get(name) is not None:
            raise DuplicateFlowVersion("This version of the flow exists already; choose the next number.")
        stored = evolve(flow, created_at=self._session.clock.now())
        self._session.flow_versions.put(name, flow.id)
        self._session.flows.put(flow.id, stored)
        _append_admin_fact(self._session, fact)
        return stored

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        return self._session.flows.get(flow_id)

    async def list_versions(
        self,
        *,
        matching: FlowFilter = EVERY_FLOW,
        after: FlowPosition | None = None,
        limit: int = LISTED_MAX,
    ) -> Sequence[FlowSummary]:
        behind = ("", 0) if after is None else (after.flow_key, after.version)
        found = [
            flow.summary
            for flow in self._session.flows.values()
            if (flow.flow_key, flow.version) > behind
            and matching.flow_key in (None, flow.flow_key)
            and matching.status in (None, flow.status)
        ]
        return sorted(found, key=lambda flow: (flow.flow_key, flow.version))[:limit]

    async def lock(self, flow_id: FlowId) -> StoredFlow | None:
        """Read without waiting: if another story commits first, this one is run again."""
        return await self.find(flow_id)

    async def lock_shared(self, flow_id: FlowId) -> StoredFlow | None:
        """Read as `lock` does."""
        return await self.find(flow_id)

    async def save(self, flow: StoredFlow, *, before: Revision, fact: AdminFact) -> StoredFlow:
        stored = self._session.flows.get(flow.id)
        if stored is None or stored.revision != before:
            raise RevisionMismatch(
                "The flow version was changed meanwhile; read it again.",
                current=None if stored is None else stored.revision,
            )
        _require_allowed(stored, flow)
        saved = self._stamped(stored, flow)
        self._session.flows.put(flow.id, saved)
        _append_admin_fact(self._session, fact)
        return saved

    def _stamped(self, stored: StoredFlow, flow: StoredFlow) -> StoredFlow:
        publishes = stored.status is FlowStatus.DRAFT and flow.status is FlowStatus.PUBLISHED
        published_at = self._session.clock.now() if publishes else stored.published_at
        return evolve(flow, created_at=stored.created_at, published_at=published_at)


class InMemoryRequestTypeStore(RequestTypeStore):
    def __init__(self, session: Session) -> None:
        self._session = session

    async def find(self, key: RequestTypeKey) -> RequestType | None:
        return self._session.request_types.get(key)

    async def list_types(
        self, *, after: RequestTypeKey | None = None, limit: int = LISTED_MAX
    ) -> Sequence[RequestType]:
        found = [each for each in self._session.request_types.values() if after is None or each.key > after]
        return sorted(found, key=lambda each: each.key)[:limit]

    async def lock(self, key: RequestTypeKey) -> RequestType | None:
        """Read without waiting: if another story commits first, this one is run again."""
        return await self.find(key)

    async def lock_shared(self, key: RequestTypeKey) -> RequestType | None:
        """Read as `lock` does."""
        return await self.find(key)

    async def add(self, request_type: RequestType, fact: AdminFact) -> bool:
        if self._session.request_types.get(request_type.key) is not None:
            return False
        self._session.request_types.put(request_type.key, request_type)
        _append_admin_fact(self._session, fact)
        return True

    async def save(self, request_type: RequestType, *, before: Revision, fact: AdminFact) -> RequestType:
        stored = self._session.request_types.get(request_type.key)
        if stored is None or stored.revision != before:
            raise RevisionMismatch(
                "The request type was changed meanwhile; read it again.",
                current=None if stored is None else stored.revision,
            )
        self._session.request_types.put(request_type.key, request_type)
        _append_admin_fact(self._session, fact)
        return request_type


def _require_allowed(stored: StoredFlow, flow: StoredFlow) -> None:
    """Refuse every change of a published version but its retirement, and every change of a flow's name."""
    same_name = (stored.flow_key, stored.version) == (flow.flow_key, flow.version)
    if same_name and (stored.status is FlowStatus.DRAFT or _retires(stored, flow)):
        return
    raise FlowNotDraft("A published flow version can't change; create a new version instead.")


def _retires(stored: StoredFlow, flow: StoredFlow) -> bool:
    if (stored.status, flow.status) != (FlowStatus.PUBLISHED, FlowStatus.RETIRED):
        return False
    retired = evolve(stored, status=flow.status, revision=flow.revision)
    return evolve(flow, created_at=stored.created_at, published_at=stored.published_at) == retired


def _append_admin_fact(session: Session, fact: AdminFact) -> None:
    position = sum(1 for _ in session.admin_facts.values())
    session.admin_facts.put(position, fact)
