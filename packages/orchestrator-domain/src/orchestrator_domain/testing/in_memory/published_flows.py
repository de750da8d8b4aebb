"""Published flow versions, read outside any session."""

from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.testing.in_memory.store import InMemoryStore


class InMemoryPublishedFlows(PublishedFlows):
    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        found = self._store.flows.rows.get(flow_id)
        return None if found is None or found.status is FlowStatus.DRAFT else found
