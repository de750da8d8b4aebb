"""Read requests and executions, as far as the actor may see them."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import NotFound
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.request_store import VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.request import Request
from orchestrator_domain.request.visibility import shown_data
from orchestrator_domain.usecases.flow_library import FlowLibrary


@frozen(kw_only=True)
class RequestShown:
    """A request as this actor may see it: `data` lacks what the flow restricts to roles that the actor hasn't."""

    request: Request
    data: JsonObject
    active_execution: ExecutionId | None


@frozen(kw_only=True)
class ReadRequest:
    """Answer reads; what isn't visible doesn't exist (NotFound)."""

    unit_of_work: UnitOfWork
    flows: FlowLibrary

    async def request(self, request_id: RequestId, actor: Actor) -> RequestShown:
        async def story(work: Transaction) -> RequestShown:
            visible = await work.requests.find_visible(request_id, actor)
            if visible is None:
                raise NotFound("There is no such request.")
            return await self.shown(visible, actor, work)

        return await self.unit_of_work.run(story)

    async def execution(self, execution_id: ExecutionId, actor: Actor) -> Execution:
        async def story(work: Transaction) -> Execution:
            execution = await work.requests.find_visible_execution(execution_id, actor)
            if execution is None:
                raise NotFound("There is no such execution.")
            return execution

        return await self.unit_of_work.run(story)

    async def shown(self, visible: VisibleRequest, actor: Actor, work: Transaction) -> RequestShown:
        """Cut what the actor may not see from a request that was read in `work`."""
        flow = await self.flows.ready(visible.request.flow, work.flows)
        return RequestShown(
            request=visible.request,
            data=shown_data(visible.request.data, flow.definition, actor),
            active_execution=visible.active_execution,
        )
