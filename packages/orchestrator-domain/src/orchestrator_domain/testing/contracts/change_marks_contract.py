"""What the port ChangeMarks promises."""

from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.testing.contracts.fenced_writes import complete
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases


class ChangeMarksContract:
    async def test_a_mark_stays_while_nothing_changes(self, harness: StoreHarness) -> None:
        execution = await StoredCases(harness=harness).accepted()
        marks = harness.change_marks()
        first = await marks.marks([execution.request_id], [execution.id])
        assert first == await marks.marks([execution.request_id], [execution.id])
        assert first.keys() == {execution.request_id, execution.id}

    async def test_unknown_ids_have_no_mark(self, harness: StoreHarness) -> None:
        unknown = StoredCases(harness=harness).identifiers.uuid()
        assert await harness.change_marks().marks([RequestId(unknown)], [ExecutionId(unknown)]) == {}
        assert await harness.change_marks().marks([], []) == {}

    async def test_each_change_that_readers_see_gives_another_mark(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        marks = harness.change_marks()
        before = await marks.marks([request.id], [])
        execution = await cases.accepted(request)
        accepted = await marks.marks([request.id], [execution.id])
        claimed = await cases.claim()
        running = await marks.marks([request.id], [execution.id])
        await complete(cases, claimed, claimed.fence, [])
        ended = await marks.marks([request.id], [execution.id])
        assert len({before[request.id], accepted[request.id], ended[request.id]}) == 3
        assert len({accepted[execution.id], running[execution.id], ended[execution.id]}) == 3
