"""What operators are shown of an execution: the facts that a decision needs, and never inputs or results."""

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, external_key
from orchestrator_domain.execution.probe import ProbesMade
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.ports.reconciliation_store import ResolutionRecord
from orchestrator_domain.usecases.resolve_execution import ExecutionResolved
from orchestrator_domain.usecases.stopped_executions import CaseShown
from orchestrator_http.views import execution_summary, execution_view, flow_reference, moment


def case_view(shown: CaseShown) -> JsonObject:
    """Show where an execution stands, and which resolutions its stop admits."""
    execution, request = shown.case.execution, shown.case.request
    return {
        **execution_summary(execution),
        "typeKey": request.type_key,
        "businessScope": request.scope,
        "state": request.state,
        "flow": flow_reference(request.flow),
        "event": execution.event,
        "transitionId": execution.transition,
        "errorCode": execution.error_code,
        "createdAt": moment(execution.created_at),
        "since": moment(execution.updated_at),
        "claims": execution.attempts,
        "correlationId": execution.correlation_id,
        "stop": shown.stop.token,
        "stoppedAction": _stopped_action(shown),
        "probes": _probes(shown.case.probes),
        "admits": [kind.value for kind in shown.stop.admits],
    }


def case_detail(shown: CaseShown) -> JsonObject:
    """Show a case with every action that was tried, the form of a result, and what was resolved before."""
    contract = shown.contract
    return {
        **case_view(shown),
        "actions": [_tried(checkpoint) for checkpoint in shown.case.checkpoints],
        "outputSchema": None if contract is None else contract.output_schema,
        "resolutions": [_resolution(record) for record in shown.resolutions],
    }


def resolved_view(resolved: ExecutionResolved) -> JsonObject:
    """Show the execution as it is now, and which resolution the command came to; the same at each repetition."""
    record = resolved.resolution
    return {
        **execution_view(resolved.execution),
        "resolution": {
            "resolutionId": str(record.id),
            "resolution": record.kind.value,
            "actionId": record.action,
            "operator": record.operator,
        },
    }


def _stopped_action(shown: CaseShown) -> JsonObject | None:
    stop = shown.stop
    if stop.action is None:
        return None
    if stop.checkpoint is not None:
        return _tried(stop.checkpoint)
    return {
        "actionId": stop.action,
        "status": None,
        "effect": _effect(shown.contract),
        "uncertain": False,
        "attempts": 0,
        "errorCode": None,
        "externalKey": external_key(shown.case.execution.id, stop.action),
        "providerReference": None,
        "startedAt": None,
        "finishedAt": None,
    }


def _probes(made: ProbesMade | None) -> JsonObject | None:
    if made is None:
        return None
    return {
        "actionId": made.action,
        "asked": made.asked,
        "outcome": made.outcome,
        "askedAt": moment(made.asked_at),
    }


def _tried(checkpoint: Checkpoint) -> JsonObject:
    return {
        "actionId": checkpoint.action,
        "status": checkpoint.status.value,
        "effect": checkpoint.effect.value,
        "uncertain": checkpoint.uncertain,
        "attempts": checkpoint.attempts,
        "errorCode": checkpoint.error_code,
        "externalKey": checkpoint.external_key,
        "providerReference": checkpoint.provider_reference,
        "startedAt": moment(checkpoint.started_at),
        "finishedAt": moment(checkpoint.finished_at),
    }


def _effect(contract: ActionContract | None) -> str | None:
    return None if contract is None else contract.effect.value


def _resolution(record: ResolutionRecord) -> JsonObject:
    return {
        "resolutionId": str(record.id),
        "resolution": record.kind.value,
        "actionId": record.action,
        "evidence": {"text": record.evidence.text, "reference": record.evidence.reference},
        "operator": record.operator,
        "correlationId": record.correlation_id,
        "createdAt": moment(record.created_at),
    }
