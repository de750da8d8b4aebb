"""Where a run or an acceptance gets the definition that its request is pinned to."""

from typing import Protocol

from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import FlowId


class PublishedFlows(Protocol):
    """Read published flow versions outside any story's transaction; they are immutable, so readers may keep them.

    Promises: None for an unknown id or a draft; what is returned never changes but for PUBLISHED → RETIRED.
    """

    async def find(self, flow_id: FlowId) -> StoredFlow | None: ...
