"""From results to the finished transition: decision, updates, schema, size. Pure."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import assert_never

from attrs import field, frozen

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
)
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.updates import UpdateFault, updated_data
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition, ByDecision, Directly, Transition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, StateKey

type Evaluate = Callable[[DecisionDefinition, EvaluationContext], DecisionResult]


@frozen(kw_only=True)
class DocumentLink:
    """A verified document that the transition links to its request, written with the transition itself."""

    document_type: str
    storage_document_id: str
    mime_type: str
    size_bytes: int
    checksum: str


@frozen(kw_only=True)
class Completion:
    """The finished transition: what the request becomes, and what readers of the execution see."""

    state: StateKey
    data: JsonObject
    result: JsonObject
    documents: tuple[DocumentLink, ...] = ()


@frozen(kw_only=True)
class RunFault:
    """Why a run can't go on: a stable code and a detail for the history, without values."""

    code: str
    detail: JsonObject = field(factory=dict)


@frozen(kw_only=True)
class FinishedTransition:
    """A completion with the facts that its history entry records."""

    completion: Completion
    detail: JsonObject


@frozen(kw_only=True)
class _Routed:
    state: StateKey
    outcome: str
    output: str | None
    trace: JsonValue


def finished_transition(
    *,
    flow: ReadyFlow,
    transition: Transition,
    context: EvaluationContext,
    results: Mapping[ActionKey, JsonObject],
    contracts: Mapping[ActionKey, ActionContract],
    evaluate: Evaluate,
    limits: FlowLimits,
) -> FinishedTransition | RunFault:
    """Decide, update and check; `context` holds the accepted snapshot and, by result key, the `results`.

    Faults: EVALUATION_ERROR, AMBIGUOUS_DECISION, DATA_SCHEMA_VIOLATION, DATA_TOO_LARGE.
    """
    routed = _routed(flow, transition, context, evaluate)
    if isinstance(routed, RunFault):
        return routed
    data = updated_data(_request_data(context), transition.updates, context, output=routed.output)
    if isinstance(data, UpdateFault):
        return RunFault(code="EVALUATION_ERROR", detail={"target": data.pointer, "reason": data.reason})
    fault = _data_fault(flow, data, limits)
    if fault is not None:
        return fault
    completion = Completion(
        state=routed.state,
        data=data,
        result={"outcome": routed.outcome, "fromState": transition.from_state, "toState": routed.state},
        documents=_documents(results, contracts),
    )
    return FinishedTransition(completion=completion, detail=_detail(transition, routed))


def _routed(
    flow: ReadyFlow, transition: Transition, context: EvaluationContext, evaluate: Evaluate
) -> _Routed | RunFault:
    match transition.route:
        case Directly(to=to, outcome=outcome):
            return _Routed(state=to, outcome=outcome, output=None, trace=None)
        case ByDecision() as route:
            decision = flow.definition.decision(route.decision)
            assert decision is not None, "reading the flow has checked that its decisions exist"
            return _decided(route, evaluate(decision, context))
    assert_never(transition.route)


def _decided(route: ByDecision, result: DecisionResult) -> _Routed | RunFault:
    match result:
        case DecisionMade() if result.output not in route.destinations:
            return RunFault(
                code="EVALUATION_ERROR",
                detail={"decision": result.decision, "fault": "OUTPUT_WITHOUT_DESTINATION"},
            )
        case DecisionMade():
            return _Routed(
                state=route.destinations[result.output],
                outcome=result.output,
                output=result.output,
                trace=_trace(result),
            )
        case DecisionAmbiguous():
            return RunFault(
                code="AMBIGUOUS_DECISION",
                detail={"decision": result.decision, "ruleIds": list(result.matched_rules)},
            )
        case DecisionFailed():
            return RunFault(code="EVALUATION_ERROR", detail=_failure(result))
    assert_never(result)


def _trace(made: DecisionMade) -> JsonObject:
    return {
        "id": made.decision,
        "hitPolicy": str(made.hit_policy),
        "output": made.output,
        "ruleIds": list(made.matched_rules),
        "byDefault": made.by_default,
    }


def _failure(failed: DecisionFailed) -> JsonObject:
    return {
        "decision": failed.decision,
        "rule": failed.rule,
        "fault": str(failed.fault.fault),
        "pointer": failed.fault.pointer,
    }


def _data_fault(flow: ReadyFlow, data: JsonObject, limits: FlowLimits) -> RunFault | None:
    violations = flow.data_violations(data)
    if violations:
        places: list[JsonValue] = [violation.pointer for violation in violations]
        return RunFault(code="DATA_SCHEMA_VIOLATION", detail={"pointers": places})
    if len(canonical_bytes(data)) > limits.data_bytes_max:
        return RunFault(code="DATA_TOO_LARGE", detail={"bytesMax": limits.data_bytes_max})
    return None


def _documents(
    results: Mapping[ActionKey, JsonObject], contracts: Mapping[ActionKey, ActionContract]
) -> tuple[DocumentLink, ...]:
    links = (_document(result) for action, result in results.items() if contracts[action].registers_document)
    return tuple(link for link in links if link is not None)


def _document(result: JsonObject) -> DocumentLink | None:
    if result.get("status") != "VALID":
        return None
    size = result["sizeBytes"]
    assert isinstance(size, int | Decimal), "the contract's output schema demands an integer"
    return DocumentLink(
        document_type=str(result["documentType"]),
        storage_document_id=str(result["documentId"]),
        mime_type=str(result["mimeType"]),
        size_bytes=int(size),
        checksum=str(result["checksum"]),
    )


def _detail(transition: Transition, routed: _Routed) -> JsonObject:
    actions: list[JsonValue] = [action.id for action in transition.actions]
    return {
        "transitionId": transition.id,
        "outcome": routed.outcome,
        "actionIds": actions,
        "decision": routed.trace,
    }


def _request_data(context: EvaluationContext) -> JsonObject:
    request = context["request"]
    assert isinstance(request, dict)
    data = request["data"]
    assert isinstance(data, dict)
    return data


def results_by_key(
    actions: tuple[ActionDefinition, ...], results: Mapping[ActionKey, JsonObject]
) -> dict[str, JsonValue]:
    """Return the results that conditions may read, under the result keys that the flow gave them."""
    return {
        action.result_key: results[action.id]
        for action in actions
        if action.result_key is not None and action.id in results
    }
