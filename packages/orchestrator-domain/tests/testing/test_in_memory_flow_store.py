"""The in-memory implementation of FlowStore keeps what the port promises."""

from orchestrator_domain.testing.contracts.flow_store_contract import FlowStoreContract


class TestInMemoryFlowStore(FlowStoreContract):
    """Runs the shared suite; `harness` is the in-memory one."""
