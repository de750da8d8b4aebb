"""The in-memory implementation of HistoryReader keeps what the port promises."""

from orchestrator_domain.testing.contracts.history_contract import HistoryContract


class TestInMemoryHistory(HistoryContract):
    """Runs the shared suite; `harness` is the in-memory one."""
