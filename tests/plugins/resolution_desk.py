"""Operators and applicants over one database, for tests of what happens when their commands meet."""

from attrs import define, evolve, field
from tests.plugins.flow_administration import HeldUnitOfWork
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import (
    CloseWithoutTransition,
    Evidence,
    ResolveCommand,
    ResumeEffectAbsent,
    ResumeWithResult,
    Way,
)
from orchestrator_domain.identifiers import EventKey, FencingToken, IdempotencyKey, Role
from orchestrator_domain.ports.unit_of_work import UnitOfWork
from orchestrator_domain.request.acceptance import AcceptEventCommand, AnyRevision
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import CLERK, LOOKUP, lookup_contract
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.usecases.accept_event import AcceptEvent, EventAccepted
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.resolve_execution import ExecutionResolved, ResolveExecution
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions

OPERATOR = evolve(CLERK, roles=frozenset({Role("EXECUTION_OPERATOR")}))
EVIDENCE = Evidence(text="Seen in the ledger.", reference="CASE-1")
WAYS: tuple[Way, ...] = (
    ResumeWithResult(result={"found": True}),
    ResumeEffectAbsent(),
    CloseWithoutTransition(),
)
CLOSING = CloseWithoutTransition()


@define(kw_only=True)
class Desk:
    """One process of operators and applicants over one database."""

    harness: PostgresHarness
    cases: StoredCases
    flows: FlowLibrary = field(factory=FlowLibrary)
    wakeup: InMemoryWakeup = field(factory=lambda: InMemoryWakeup(ManualClock()))

    async def resolve(
        self,
        execution: Execution,
        way: Way,
        *,
        key: str = "r-1",
        work: UnitOfWork | None = None,
        stop: FencingToken | None = None,
    ) -> ExecutionResolved:
        stores = work or self.harness.unit_of_work()
        resolving = ResolveExecution(
            unit_of_work=stores,
            stopped=StoppedExecutions(
                unit_of_work=stores, flows=self.flows, catalogue=FixedCatalogue([lookup_contract()])
            ),
            identifiers=self.cases.identifiers,
            wakeup=self.wakeup,
        )
        command = ResolveCommand(
            execution_id=execution.id,
            action=LOOKUP,
            way=way,
            evidence=EVIDENCE,
            key=IdempotencyKey(key),
            stop=stop,
        )
        return await resolving(command, OPERATOR)

    async def accept(self, execution: Execution, *, work: UnitOfWork | None = None) -> EventAccepted:
        """Send another event to the execution's request."""
        accepting = AcceptEvent(
            unit_of_work=work or self.harness.unit_of_work(),
            flows=self.flows,
            identifiers=self.cases.identifiers,
            wakeup=self.wakeup,
            observer=RecordingObserver(),
        )
        command = AcceptEventCommand(
            request_id=execution.request_id,
            event=EventKey("CHECK"),
            data={},
            key=IdempotencyKey("another"),
            precondition=AnyRevision(),
        )
        return await accepting(command, CLERK)

    def held(self) -> HeldUnitOfWork:
        return HeldUnitOfWork(self.harness.unit_of_work())

    async def status(self, execution: Execution) -> ExecutionStatus:
        return (await self.cases.seen_execution(execution.id)).status

    async def kinds(self, execution: Execution) -> list[AuditKind]:
        """Return what the request's history tells, once its chain holds."""
        history = list(await self.harness.history(execution.request_id))
        assert verify_chain(history) is None
        return [entry.kind for entry in history]
