"""The in-memory reconciliation store keeps the port's promises."""

from orchestrator_domain.testing.contracts.reconciliation_store_contract import ReconciliationStoreContract


class TestInMemoryReconciliationStore(ReconciliationStoreContract):
    pass
