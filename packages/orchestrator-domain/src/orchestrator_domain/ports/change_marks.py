"""Whether requests and executions have changed, asked for many of them at once and without reading them."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from orchestrator_domain.identifiers import ExecutionId, RequestId


class ChangeMarks(Protocol):
    """Read change marks outside of any story, in one question however many are asked for.

    Promises: as long as what readers see of a resource stays the same, its mark does, and each change of it gives another
    mark; unknown ids are left out. Nobody's rights are asked, so a mark is for comparing only and is shown to nobody.
    """

    async def marks(
        self, requests: Collection[RequestId], executions: Collection[ExecutionId]
    ) -> Mapping[UUID, str]: ...
