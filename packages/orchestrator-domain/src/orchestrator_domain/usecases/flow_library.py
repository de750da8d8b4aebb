"""Published flows, read and compiled once per version."""

from typing import Protocol

from attrs import define, field

from orchestrator_domain.errors import FlowInvalid, FlowUnreadable
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.ready import ReadyFlow, ready_flow
from orchestrator_domain.identifiers import FlowId, Sha256Hex
from orchestrator_domain.request.request import FlowReference


class FlowSource(Protocol):
    """Read a stored flow version: a FlowStore inside a story, PublishedFlows outside of one."""

    async def find(self, flow_id: FlowId) -> StoredFlow | None: ...


@define(kw_only=True)
class FlowLibrary:
    """Keep the compiled form of published versions, by flow id and checksum and by nothing else.

    Which version is active is never kept: that is asked of the store each time (specification, section 11).
    `kept_max` bounds the memory; the version that was used longest ago leaves first.
    """

    kept_max: int = 200
    _kept: dict[tuple[FlowId, Sha256Hex], ReadyFlow] = field(factory=dict, init=False)

    async def ready(self, reference: FlowReference, source: FlowSource) -> ReadyFlow:
        """Return the compiled flow, read from `source` at its first use.

        Raises FlowUnreadable if the source has no such published version, or one that this release can't read.
        """
        key = (reference.id, reference.checksum)
        kept = self._kept.pop(key, None) or await self._compiled(reference, source)
        self._kept[key] = kept
        if len(self._kept) > self.kept_max:
            del self._kept[next(iter(self._kept))]
        return kept

    async def _compiled(self, reference: FlowReference, source: FlowSource) -> ReadyFlow:
        stored = await source.find(reference.id)
        if stored is None or stored.status is FlowStatus.DRAFT or stored.checksum != reference.checksum:
            raise FlowUnreadable("The flow version of this request isn't in the store as it was published.")
        try:
            return ready_flow(stored)
        except FlowInvalid:
            raise FlowUnreadable("This release can't read the flow version of this request.") from None
