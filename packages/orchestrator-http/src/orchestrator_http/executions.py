"""GET /executions/{id}."""

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_http.call import Call
from orchestrator_http.change_poll import WatchedExecution
from orchestrator_http.conditional_read import ConditionalReads, Representation, content_tag
from orchestrator_http.views import execution_view


@frozen(kw_only=True)
class ExecutionHandlers:
    """Show executions."""

    read_request: ReadRequest
    conditional_reads: ConditionalReads

    async def show(self, call: Call) -> Response:
        """Show the technical status, the business result and the permitted error of an execution."""
        execution_id = ExecutionId(call.path_uuid("executionId"))

        async def look() -> Representation:
            return _representation(await self.read_request.execution(execution_id, call.actor))

        return await self.conditional_reads.answer(call, WatchedExecution(execution_id), look)


def _representation(execution: Execution) -> Representation:
    body = execution_view(execution)
    active = execution.status.active
    return Representation(
        body=body,
        tag=content_tag(body),
        final=not active,
        headers={"Retry-After": "1"} if active else {},
    )
