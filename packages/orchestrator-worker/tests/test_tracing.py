"""Spans of runs: under the place that the acceptance kept, with codes and without the texts of exceptions."""

import pytest
from attrs import evolve, frozen
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_current_span

from orchestrator_domain.errors import LeaseLost
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import TraceParent
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.usecases.run_progress import RunEnded
from orchestrator_worker.tracing import TracedRuns

SECRET = "Juana, 4711"


@frozen
class Runs:
    """End as told, or raise."""

    end: RunEnded | Exception

    async def run(self, claimed: ClaimedExecution) -> RunEnded:  # noqa: ARG002 - it ends as told
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


async def claimed_with(trace_parent: TraceParent | None) -> ClaimedExecution:
    claimed = await StoredCases(harness=InMemoryHarness()).claimed()
    return evolve(claimed, execution=evolve(claimed.execution, trace_parent=trace_parent))


async def spans_of(claimed: ClaimedExecution, end: RunEnded | Exception) -> tuple[ReadableSpan, ...]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    running = TracedRuns(Runs(end), provider.get_tracer("test"))
    if isinstance(end, Exception):
        with pytest.raises(type(end)):
            await running.run(claimed)
    else:
        assert await running.run(claimed) == end
    assert not get_current_span().get_span_context().is_valid
    return exporter.get_finished_spans()


async def test_a_run_belongs_to_the_trace_in_which_its_event_was_accepted() -> None:
    place = TraceParent(f"00-{'a' * 32}-{'b' * 16}-01")
    failed = RunEnded(status=ExecutionStatus.FAILED, error_code="PROVIDER_REJECTED")
    (span,) = await spans_of(await claimed_with(place), failed)
    assert span.parent is not None
    assert f"{span.parent.trace_id:032x}-{span.parent.span_id:016x}" == f"{'a' * 32}-{'b' * 16}"
    assert span.attributes is not None
    assert span.attributes["orchestrator.execution.status"] == "FAILED"
    assert span.attributes["error.type"] == "PROVIDER_REJECTED"


@pytest.mark.parametrize("place", [None, TraceParent("00-nothing-of-a-trace-01")])
async def test_a_run_without_a_place_in_a_trace_begins_one(place: TraceParent | None) -> None:
    succeeded = RunEnded(status=ExecutionStatus.SUCCEEDED)
    (span,) = await spans_of(await claimed_with(place), succeeded)
    assert span.parent is None


@pytest.mark.parametrize(
    ("error", "code"), [(LeaseLost(SECRET), "LEASE_LOST"), (ValueError(SECRET), "INTERNAL_ERROR")]
)
async def test_a_run_that_raises_is_told_by_its_code_alone(error: Exception, code: str) -> None:
    (span,) = await spans_of(await claimed_with(None), error)
    assert span.attributes is not None
    assert (span.attributes["error.type"], span.events, span.status.description) == (code, (), None)
    assert SECRET not in span.to_json()
