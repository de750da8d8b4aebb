"""The in-memory implementation of RequestStore keeps what the port promises."""

from orchestrator_domain.testing.contracts.request_store_contract import RequestStoreContract


class TestInMemoryRequestStore(RequestStoreContract):
    """Runs the shared suite; `harness` is the in-memory one."""
