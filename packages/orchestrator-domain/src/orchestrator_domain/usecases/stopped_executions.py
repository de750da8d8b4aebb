"""Show operators the executions of their scopes: where each stands, and what it admits."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowUnreadable, NotFound
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.reconciliation import Stop, find_stop
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, ExecutionId
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.reconciliation_store import CasePosition, ExecutionCase, ResolutionRecord
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.page import Page, page_of
from orchestrator_domain.usecases.permissions import EXECUTION_OPERATOR, require_any

PAGE_MAX = 100


@frozen(kw_only=True)
class CaseShown:
    """A case with where it stands; `contract` is the stopped action's, None where this deployment lacks it."""

    case: ExecutionCase
    stop: Stop
    contract: ActionContract | None
    resolutions: tuple[ResolutionRecord, ...] = ()


@frozen(kw_only=True)
class StoppedExecutions:
    """Answer an operator's reads. Scopes decide alone: owning a request shows nothing here."""

    unit_of_work: UnitOfWork
    flows: FlowLibrary
    catalogue: IntegrationCatalogue

    async def list_cases(
        self,
        operator: Actor,
        *,
        status: ExecutionStatus = ExecutionStatus.RECONCILIATION_REQUIRED,
        after: CasePosition | None = None,
        limit: int = PAGE_MAX,
    ) -> Page[CaseShown, CasePosition]:
        """Return at most `limit` executions in an active status, those that have stood like this longest first."""
        require_any(operator, EXECUTION_OPERATOR)
        assert 1 <= limit <= PAGE_MAX, "a page has a bound"
        assert status.active, "what has ended needs no operator"

        async def story(work: Transaction) -> Page[CaseShown, CasePosition]:
            found = await work.reconciliation.list_cases(
                operator.scopes, status=status, after=after, limit=limit + 1
            )
            shown = [await self.examined(case, work) for case in found]
            return page_of(shown, limit=limit, position=_position)

        return await self.unit_of_work.run(story)

    async def find(self, execution_id: ExecutionId, operator: Actor) -> CaseShown:
        """Return one execution, whatever its status, with every resolution so far. Raises NotFound."""
        require_any(operator, EXECUTION_OPERATOR)

        async def story(work: Transaction) -> CaseShown:
            case = await work.reconciliation.find_case(execution_id, operator.scopes)
            if case is None:
                raise NotFound("There is no such execution in your business scopes.")
            made = await work.reconciliation.resolutions(execution_id)
            return await self.examined(case, work, made=tuple(made))

        return await self.unit_of_work.run(story)

    async def examined(
        self, case: ExecutionCase, work: Transaction, *, made: tuple[ResolutionRecord, ...] = ()
    ) -> CaseShown:
        """Say where a case stands that was read in `work`; one whose flow can't be read can only be closed."""
        flow = await self._flow(case, work)
        stop = find_stop(
            case.execution,
            () if flow is None else _actions(flow, case),
            {checkpoint.action: checkpoint for checkpoint in case.checkpoints},
            as_accepted=case.as_accepted,
        )
        contract = None if flow is None or stop.action is None else self._contract(flow, case, stop.action)
        return CaseShown(case=case, stop=stop, contract=contract, resolutions=made)

    async def _flow(self, case: ExecutionCase, work: Transaction) -> ReadyFlow | None:
        try:
            return await self.flows.ready(case.request.flow, work.flows)
        except FlowUnreadable:
            return None

    def _contract(self, flow: ReadyFlow, case: ExecutionCase, action: ActionKey) -> ActionContract | None:
        pin = flow.contracts.get((case.execution.transition, action))
        return None if pin is None else self.catalogue.pinned(pin)


def _actions(flow: ReadyFlow, case: ExecutionCase) -> tuple[ActionKey, ...]:
    transition = flow.definition.transition(case.execution.transition)
    assert transition is not None, "acceptance took the transition from this very version"
    return tuple(action.id for action in transition.actions)


def _position(shown: CaseShown) -> CasePosition:
    execution = shown.case.execution
    assert execution.updated_at is not None, "a stored execution has its times"
    return CasePosition(since=execution.updated_at, execution_id=execution.id)
