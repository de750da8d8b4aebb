"""Runs of the lending flow in the HTTP application's own store, with results that a test supplies."""

from tests.plugins.http_service import HttpService, LendingCatalogue

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import Succeeded
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.published_flows import InMemoryPublishedFlows
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.testing.scripted_handlers import ScriptedHandler
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import ExecutionRunner


async def run_what_is_due(service: HttpService, result: JsonObject, *, seed: int = 79) -> None:
    """Run every execution that is due to its end; each lookup gives `result`."""
    queue, handler = InMemoryExecutionQueue(service.store), ScriptedHandler()
    runner = ExecutionRunner(
        queue=queue,
        flows=FlowLibrary(),
        published_flows=InMemoryPublishedFlows(service.store),
        catalogue=LendingCatalogue(),
        attempt=handler.execute,
        evaluator=CompiledDecisionEvaluator(),
        identifiers=SequentialIdentifiers(seed=seed),
        observer=RecordingObserver(),
        limits=FlowLimits(),
    )
    for claimed in await queue.claim(owner=LeaseOwner("worker-1"), limit=100, lease_seconds=60.0):
        handler.script("lookup", Succeeded(result=result))
        await runner.run(claimed)
