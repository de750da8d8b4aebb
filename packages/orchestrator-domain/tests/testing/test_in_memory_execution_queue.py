"""The in-memory queue keeps what the port promises."""

from orchestrator_domain.testing.contracts.execution_queue_contract import ExecutionQueueContract


class TestInMemoryExecutionQueue(ExecutionQueueContract):
    """Runs the shared suite; `harness` is the in-memory one."""
