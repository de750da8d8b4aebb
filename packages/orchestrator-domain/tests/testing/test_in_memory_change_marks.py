"""The in-memory implementation of ChangeMarks keeps what the port promises."""

from orchestrator_domain.testing.contracts.change_marks_contract import ChangeMarksContract


class TestInMemoryChangeMarks(ChangeMarksContract):
    """Runs the shared suite; `harness` is the in-memory one."""
