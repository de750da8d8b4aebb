"""The in-memory implementation of PublishedFlows keeps what the port promises."""

from orchestrator_domain.testing.contracts.published_flows_contract import PublishedFlowsContract


class TestInMemoryPublishedFlows(PublishedFlowsContract):
    """Runs the shared suite; `harness` is the in-memory one."""
