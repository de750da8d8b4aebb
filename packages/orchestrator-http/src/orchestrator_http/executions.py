"""GET /executions/{id}."""

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_http.call import Call
from orchestrator_http.payloads import json_response
from orchestrator_http.views import execution_view


@frozen(kw_only=True)
class ExecutionHandlers:
    """Show executions."""

    read_request: ReadRequest

    async def show(self, call: Call) -> Response:
        """Show the technical status, the business result and the permitted error of an execution."""
        execution = await self.read_request.execution(ExecutionId(call.path_uuid("executionId")), call.actor)
        headers = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
        if execution.status.active:
            headers["Retry-After"] = "1"
        return json_response(execution_view(execution), headers=headers)
