"""Compiled flows, kept by id and checksum and by nothing else."""

import pytest
from attrs import evolve

from orchestrator_domain.errors import FlowUnreadable
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId, Sha256Hex
from orchestrator_domain.request.request import FlowReference
from orchestrator_domain.testing.examples import draft_flow, published
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.flow_library import FlowLibrary

IDENTIFIERS = SequentialIdentifiers()
FLOWS = [published(draft_flow(IDENTIFIERS, version=version)) for version in (1, 2, 3)]


class CountingSource:
    """Flows by id, and how often each was asked for."""

    def __init__(self, *flows: StoredFlow) -> None:
        self._flows = {flow.id: flow for flow in flows}
        self.asked: list[FlowId] = []

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        self.asked.append(flow_id)
        return self._flows.get(flow_id)


def reference(flow: StoredFlow) -> FlowReference:
    return FlowReference(
        id=flow.id, key=flow.flow_key, version=flow.version, checksum=flow.checksum or Sha256Hex("")
    )


async def test_a_version_is_read_and_compiled_once() -> None:
    source, library = CountingSource(*FLOWS), FlowLibrary()
    first = await library.ready(reference(FLOWS[0]), source)
    assert await library.ready(reference(FLOWS[0]), source) is first
    assert source.asked == [FLOWS[0].id]


async def test_the_version_that_was_used_longest_ago_leaves_first() -> None:
    source, library = CountingSource(*FLOWS), FlowLibrary(kept_max=2)
    for number in (0, 1, 0, 2, 0, 1):
        await library.ready(reference(FLOWS[number]), source)
    assert source.asked == [FLOWS[0].id, FLOWS[1].id, FLOWS[2].id, FLOWS[1].id]


async def test_a_retired_version_still_serves_its_requests() -> None:
    ready = await FlowLibrary().ready(reference(FLOWS[0]), CountingSource(FLOWS[0].retired()))
    assert ready.definition.document == FLOWS[0].document


@pytest.mark.parametrize(
    "stored",
    [
        None,
        evolve(FLOWS[0], status=FlowStatus.DRAFT),
        evolve(FLOWS[0], checksum=Sha256Hex("f" * 64)),
    ],
)
async def test_a_version_that_the_source_lacks_or_holds_otherwise_is_a_fault_of_the_store(
    stored: StoredFlow | None,
) -> None:
    source = CountingSource(*([] if stored is None else [stored]))
    with pytest.raises(FlowUnreadable):
        await FlowLibrary().ready(reference(FLOWS[0]), source)


async def test_a_version_that_can_not_be_read_is_not_kept() -> None:
    library = FlowLibrary()
    with pytest.raises(FlowUnreadable):
        await library.ready(reference(FLOWS[0]), CountingSource(evolve(FLOWS[0], document={})))
    ready = await library.ready(reference(FLOWS[0]), CountingSource(FLOWS[0]))
    assert ready.definition.document == FLOWS[0].document
