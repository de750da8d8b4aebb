"""What the outside is shown of the domain's values."""

from datetime import UTC, datetime

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.findings import Finding, ValidationReport
from orchestrator_domain.flow.lifecycle import FlowSummary, PinnedContract, RequestType, StoredFlow
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.request.request import FlowReference, Request


def request_summary(request: Request, *, active: ExecutionId | None) -> JsonObject:
    """Show a request without its data, whose restricted parts depend on who asks."""
    return {
        "requestId": str(request.id),
        "typeKey": request.type_key,
        "state": request.state,
        "flow": flow_reference(request.flow),
        "businessScope": request.scope,
        "revision": request.revision,
        "activeExecutionId": None if active is None else str(active),
        "createdAt": moment(request.created_at),
        "updatedAt": moment(request.updated_at),
    }


def request_view(request: Request, *, data: JsonObject, active: ExecutionId | None) -> JsonObject:
    """Show a request with the data that its reader may see, or when it was erased."""
    erased_at = request.data_erased_at
    erased: JsonObject = {} if erased_at is None else {"dataErasedAt": moment(erased_at)}
    return {**request_summary(request, active=active), "data": data, **erased}


def execution_summary(execution: Execution) -> JsonObject:
    """Show what the acceptance of an event answers (specification, section 10)."""
    return {
        "executionId": str(execution.id),
        "status": execution.status.value,
        "requestId": str(execution.request_id),
    }


def execution_view(execution: Execution) -> JsonObject:
    """Show an execution without inputs, actor, lease or keys."""
    return {
        **execution_summary(execution),
        "event": execution.event,
        "result": execution.result,
        "errorCode": execution.error_code,
        "createdAt": moment(execution.created_at),
        "updatedAt": moment(execution.updated_at),
    }


def flow_summary(flow: FlowSummary) -> JsonObject:
    """Show a flow version without its definition."""
    return {
        "flowId": str(flow.id),
        "flowKey": flow.flow_key,
        "version": flow.version,
        "status": flow.status.value,
        "schemaVersion": flow.schema_version,
        "revision": flow.revision,
        "checksum": flow.checksum,
        "createdBy": flow.created_by,
        "createdAt": moment(flow.created_at),
        "publishedAt": moment(flow.published_at),
    }


def flow_view(flow: StoredFlow) -> JsonObject:
    """Show a flow version whole, with the contracts that its publication pinned."""
    return {
        **flow_summary(flow.summary),
        "contracts": [_contract(contract) for contract in flow.contracts],
        "definition": flow.document,
    }


def request_type_view(request_type: RequestType) -> JsonObject:
    return {
        "typeKey": request_type.key,
        "activeFlowId": None if request_type.active_flow is None else str(request_type.active_flow),
        "enabled": request_type.enabled,
        "revision": request_type.revision,
    }


def report_view(report: ValidationReport) -> JsonObject:
    return {
        "publishable": report.publishable,
        "findings": [finding_view(finding) for finding in report.findings],
    }


def finding_view(finding: Finding) -> JsonObject:
    return {
        "severity": finding.severity.value,
        "code": finding.code,
        "pointer": finding.pointer,
        "message": finding.message,
        "suggestion": finding.suggestion,
        "witness": finding.witness,
    }


def moment(when: datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC, ending in Z."""
    return None if when is None else when.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def flow_reference(flow: FlowReference) -> JsonObject:
    return {"flowId": str(flow.id), "flowKey": flow.key, "version": flow.version, "checksum": flow.checksum}


def _contract(contract: PinnedContract) -> JsonObject:
    return {
        "transitionId": contract.transition,
        "actionId": contract.action,
        "actionType": contract.action_type,
        "integrationKey": contract.integration_key,
        "contractVersion": contract.contract_version,
        "profile": contract.profile,
        "profileVersion": contract.profile_version,
        "checksum": contract.checksum,
    }
