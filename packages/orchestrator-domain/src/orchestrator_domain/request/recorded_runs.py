"""What the store keeps of a request's runs: where it began, what was sent, and what each action gave."""

from collections.abc import Mapping

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class RecordedRuns:
    """A request with every execution that it has had, and their checkpoints; enough to run each of them again.

    Unless it isn't `replayable` any more, for something that they rest on has been erased.
    """

    request: Request
    initial_data: JsonObject
    executions: tuple[Execution, ...]
    checkpoints: Mapping[ExecutionId, tuple[Checkpoint, ...]]
    replayable: bool = True
