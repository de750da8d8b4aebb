"""The whole state, and sessions that change it together or not at all."""

from collections.abc import Mapping

from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.flow.lifecycle import RequestType, StoredFlow
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    ExecutionId,
    FlowId,
    FlowKey,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Subject,
)
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.reconciliation_store import ResolutionRecord
from orchestrator_domain.ports.request_store import CreationRecord
from orchestrator_domain.testing.in_memory.rows import CheckpointRow, ExecutionRow, RequestRow
from orchestrator_domain.testing.in_memory.table import Table, TableView, View
from orchestrator_domain.testing.manual_clock import Clock

type CreationKey = tuple[Subject, BusinessScope, IdempotencyKey]
type DocumentKey = tuple[RequestId, str, str]


class InMemoryStore:
    """Hold every row. `clock` is the one that decides leases, due times and timestamps."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.flows = Table[FlowId, StoredFlow]()
        self.flow_versions = Table[tuple[FlowKey, int], FlowId]()
        self.request_types = Table[RequestTypeKey, RequestType]()
        self.admin_facts = Table[int, AdminFact]()
        self.creations = Table[CreationKey, CreationRecord]()
        self.requests = Table[RequestId, RequestRow]()
        self.history = Table[tuple[RequestId, int], AuditEntry]()
        self.documents = Table[DocumentKey, DocumentLink]()
        self.executions = Table[ExecutionId, ExecutionRow]()
        self.execution_keys = Table[tuple[RequestId, IdempotencyKey], ExecutionId]()
        self.active_executions = Table[RequestId, ExecutionId]()
        self.checkpoints = Table[ExecutionId, Mapping[ActionKey, CheckpointRow]]()
        self.resolutions = Table[ExecutionId, tuple[ResolutionRecord, ...]]()

    def session(self) -> "Session":
        """Begin to read and write; nothing is seen by others before `Session.commit`."""
        return Session(self)


class Session:
    """One transaction's view of every table."""

    def __init__(self, store: InMemoryStore) -> None:
        self.clock = store.clock
        self.flows = View(store.flows)
        self.flow_versions = View(store.flow_versions)
        self.request_types = View(store.request_types)
        self.admin_facts = View(store.admin_facts)
        self.creations = View(store.creations)
        self.requests = View(store.requests)
        self.history = View(store.history)
        self.documents = View(store.documents)
        self.executions = View(store.executions)
        self.execution_keys = View(store.execution_keys)
        self.active_executions = View(store.active_executions)
        self.checkpoints = View(store.checkpoints)
        self.resolutions = View(store.resolutions)

    def holds(self) -> bool:
        """Say whether nothing that this session read has been committed otherwise meanwhile."""
        return all(view.holds() for view in self._views())

    def commit(self) -> bool:
        """Write everything and return True, or nothing and return False because something read has moved."""
        if not self.holds():
            return False
        for view in self._views():
            view.apply()
        return True

    def _views(self) -> tuple[TableView, ...]:
        return (
            self.flows,
            self.flow_versions,
            self.request_types,
            self.admin_facts,
            self.creations,
            self.requests,
            self.history,
            self.documents,
            self.executions,
            self.execution_keys,
            self.active_executions,
            self.checkpoints,
            self.resolutions,
        )
