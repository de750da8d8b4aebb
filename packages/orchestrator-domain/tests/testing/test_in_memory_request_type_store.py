"""The in-memory implementation of RequestTypeStore keeps what the port promises."""

from orchestrator_domain.testing.contracts.request_type_store_contract import RequestTypeStoreContract


class TestInMemoryRequestTypeStore(RequestTypeStoreContract):
    """Runs the shared suite; `harness` is the in-memory one."""
