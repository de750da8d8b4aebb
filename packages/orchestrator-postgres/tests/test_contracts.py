"""The suites of the ports, on PostgreSQL."""

from orchestrator_domain.testing.contracts.change_marks_contract import ChangeMarksContract
from orchestrator_domain.testing.contracts.event_judgement_contract import EventJudgementContract
from orchestrator_domain.testing.contracts.execution_queue_contract import ExecutionQueueContract
from orchestrator_domain.testing.contracts.flow_store_contract import FlowStoreContract
from orchestrator_domain.testing.contracts.history_contract import HistoryContract
from orchestrator_domain.testing.contracts.published_flows_contract import PublishedFlowsContract
from orchestrator_domain.testing.contracts.recent_past_contract import RecentPastContract
from orchestrator_domain.testing.contracts.reconciliation_store_contract import ReconciliationStoreContract
from orchestrator_domain.testing.contracts.request_store_contract import RequestStoreContract
from orchestrator_domain.testing.contracts.request_type_store_contract import RequestTypeStoreContract
from orchestrator_domain.testing.contracts.unit_of_work_contract import UnitOfWorkContract
from orchestrator_domain.testing.contracts.wakeup_contract import WakeupContract


class TestPostgresExecutionQueue(ExecutionQueueContract):
    pass


class TestPostgresFlowStore(FlowStoreContract):
    pass


class TestPostgresRequestTypeStore(RequestTypeStoreContract):
    pass


class TestPostgresRequestStore(RequestStoreContract):
    pass


class TestPostgresReconciliationStore(ReconciliationStoreContract):
    pass


class TestPostgresChangeMarks(ChangeMarksContract):
    pass


class TestPostgresHistory(HistoryContract):
    pass


class TestPostgresPublishedFlows(PublishedFlowsContract):
    pass


class TestPostgresRecentPast(RecentPastContract):
    pass


class TestPostgresUnitOfWork(UnitOfWorkContract):
    pass


class TestPostgresEventJudgement(EventJudgementContract):
    pass


class TestPostgresWakeup(WakeupContract):
    pass
