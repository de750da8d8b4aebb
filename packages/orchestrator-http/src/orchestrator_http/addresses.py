"""Where resources lie. Always relative to the origin: what a client writes into Host must come back in no answer."""

from typing import Final

from orchestrator_domain.identifiers import ExecutionId, FlowId, RequestId

BASE_PATH: Final = "/api/v1"


def request_address(request_id: RequestId) -> str:
    return f"{BASE_PATH}/requests/{request_id}"


def execution_address(execution_id: ExecutionId) -> str:
    return f"{BASE_PATH}/executions/{execution_id}"


def flow_address(flow_id: FlowId) -> str:
    return f"{BASE_PATH}/admin/flows/{flow_id}"
