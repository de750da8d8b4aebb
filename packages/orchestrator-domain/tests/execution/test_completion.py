"""From results to the finished transition."""

import pytest
from attrs import evolve, field, frozen
from hypothesis import given

from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import DecisionMade, DecisionResult
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.completion import (
    DocumentLink,
    Evaluate,
    FinishedTransition,
    RunFault,
    finished_transition,
    results_by_key,
)
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, TransitionKey
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document
from orchestrator_domain.testing.examples import CLERK, LOOKUP, flow_document, lookup_contract
from orchestrator_domain.testing.strategies import json_objects

EVALUATE = CompiledDecisionEvaluator().evaluate
CHECK, WITHDRAW = TransitionKey("check"), TransitionKey("withdraw")
FOUND: JsonObject = {"found": True, "shelf": "A3"}
DOCUMENT: JsonObject = {
    "status": "VALID",
    "documentType": "PHOTO",
    "documentId": "doc-1",
    "mimeType": "image/png",
    "sizeBytes": 1024,
    "checksum": "abc",
}


@frozen(kw_only=True)
class Desk:
    """The lending flow, with the members that a test changes."""

    flow: ReadyFlow
    contract: ActionContract = field(factory=lookup_contract)
    limits: FlowLimits = field(factory=FlowLimits)

    def finish(
        self,
        result: JsonObject,
        *,
        data: JsonObject | None = None,
        transition: TransitionKey = CHECK,
        evaluate: Evaluate = EVALUATE,
    ) -> FinishedTransition | RunFault:
        found = self.flow.definition.transition(transition)
        assert found is not None
        results = {LOOKUP: result} if found.actions else {}
        return finished_transition(
            flow=self.flow,
            transition=found,
            context=_context(found, data if data is not None else {"item": "ladder"}, results),
            results=results,
            contracts={LOOKUP: self.contract},
            evaluate=evaluate,
            limits=self.limits,
        )


def _context(
    transition: Transition, data: JsonObject, results: dict[ActionKey, JsonObject]
) -> EvaluationContext:
    return evaluation_context(
        request_data=data,
        event_data={},
        actor=CLERK,
        results=results_by_key(transition.actions, results),
    )


def desk(**members: JsonValue) -> Desk:
    return Desk(flow=ReadyFlow(definition=read_flow({**flow_document(), **members})))


def test_a_matching_rule_takes_the_request_to_its_destination() -> None:
    finished = desk().finish(FOUND)
    assert isinstance(finished, FinishedTransition)
    assert finished.completion.state == "LENT"
    assert finished.completion.data == {"item": "ladder", "lookup": FOUND}
    assert finished.completion.result == {"outcome": "FOUND", "fromState": "OPEN", "toState": "LENT"}


def test_the_history_says_which_rules_decided() -> None:
    finished = desk().finish(FOUND)
    assert isinstance(finished, FinishedTransition)
    assert finished.detail == {
        "transitionId": "check",
        "outcome": "FOUND",
        "actionIds": ["lookup"],
        "decision": {
            "id": "AVAILABILITY",
            "hitPolicy": "UNIQUE",
            "output": "FOUND",
            "ruleIds": ["found"],
            "byDefault": False,
        },
    }


def test_no_match_takes_the_default_which_may_keep_the_state() -> None:
    finished = desk().finish({"found": False})
    assert isinstance(finished, FinishedTransition)
    assert (finished.completion.state, finished.completion.result["outcome"]) == ("OPEN", "MISSING")
    assert finished.detail["decision"] == {
        "id": "AVAILABILITY",
        "hitPolicy": "UNIQUE",
        "output": "MISSING",
        "ruleIds": [],
        "byDefault": True,
    }


def test_two_matching_unique_rules_are_ambiguous_even_if_they_agree() -> None:
    finished = desk(decisions=[decision(rule("one"), rule("two"))]).finish(FOUND)
    assert finished == RunFault(
        code="AMBIGUOUS_DECISION", detail={"decision": "AVAILABILITY", "ruleIds": ["one", "two"]}
    )


def test_the_first_policy_stops_at_its_first_match() -> None:
    first = {**decision(rule("one"), rule("two")), "hitPolicy": "FIRST"}
    finished = desk(decisions=[first]).finish(FOUND)
    assert isinstance(finished, FinishedTransition)
    traced = finished.detail["decision"]
    assert isinstance(traced, dict)
    assert (traced["hitPolicy"], traced["ruleIds"]) == ("FIRST", ["one"])


def test_a_rule_that_can_not_be_evaluated_is_an_evaluation_error_with_its_place() -> None:
    finished = desk().finish({"shelf": "A3"})
    assert finished == RunFault(
        code="EVALUATION_ERROR",
        detail={
            "decision": "AVAILABILITY",
            "rule": "found",
            "fault": "ABSENT",
            "pointer": "/results/lookup/found",
        },
    )


def test_an_output_that_the_flow_gives_no_destination_ends_the_run() -> None:
    def other(definition: DecisionDefinition, _: EvaluationContext) -> DecisionResult:
        return DecisionMade(
            decision=definition.id,
            hit_policy=HitPolicy.UNIQUE,
            output="ELSEWHERE",
            matched_rules=(),
            by_default=False,
        )

    finished = desk().finish(FOUND, evaluate=other)
    assert isinstance(finished, RunFault)
    assert finished.code == "EVALUATION_ERROR"


def test_a_direct_transition_has_its_own_outcome_and_no_decision() -> None:
    finished = desk().finish(FOUND, transition=WITHDRAW)
    assert isinstance(finished, FinishedTransition)
    assert finished.completion.result == {"outcome": "withdraw", "fromState": "OPEN", "toState": "WITHDRAWN"}
    assert finished.completion.data == {"item": "ladder"}
    assert (finished.detail["decision"], finished.detail["actionIds"]) == (None, [])


def test_an_update_that_can_not_be_carried_out_is_an_evaluation_error_at_its_target() -> None:
    finished = desk(transitions=with_update("/item/name")).finish(FOUND)
    assert isinstance(finished, RunFault)
    assert (finished.code, finished.detail["target"]) == ("EVALUATION_ERROR", "/item/name")


def test_an_update_for_the_other_output_is_left_out() -> None:
    limited = desk(transitions=with_update("/shelf", outputs=["MISSING"]))
    finished = limited.finish(FOUND)
    assert isinstance(finished, FinishedTransition)
    assert finished.completion.data == {"item": "ladder"}


def test_data_outside_its_schema_is_located_and_never_quoted() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"lookup": {"properties": {"shelf": {"type": "integer"}}}},
    }
    finished = desk(dataSchema=schema).finish({"found": True, "shelf": "marker-7c1"})
    assert finished == RunFault(code="DATA_SCHEMA_VIOLATION", detail={"pointers": ["/lookup/shelf"]})


@pytest.mark.parametrize(("beyond", "fits"), [(0, True), (1, False)])
def test_data_may_be_as_large_as_its_limit_and_not_a_byte_larger(beyond: int, *, fits: bool) -> None:
    size = len(canonical_bytes({"item": "ladder", "lookup": FOUND}))
    limited = evolve(desk(), limits=FlowLimits(data_bytes_max=size - beyond))
    finished = limited.finish(FOUND)
    if fits:
        assert isinstance(finished, FinishedTransition)
    else:
        assert finished == RunFault(code="DATA_TOO_LARGE", detail={"bytesMax": size - 1})


def test_size_is_counted_in_bytes_of_utf_8() -> None:
    size = len(canonical_bytes({"item": "escaleña", "lookup": FOUND}))
    limited = evolve(desk(), limits=FlowLimits(data_bytes_max=size - 1))
    finished = limited.finish(FOUND, data={"item": "escaleña"})
    assert isinstance(finished, RunFault)


@pytest.mark.parametrize(
    ("registers", "status", "linked"),
    [(True, "VALID", True), (True, "INVALID", False), (False, "VALID", False)],
)
def test_a_document_is_linked_only_by_a_valid_result_of_an_action_that_registers_documents(
    status: str, *, registers: bool, linked: bool
) -> None:
    registering = evolve(desk(), contract=evolve(lookup_contract(), registers_document=registers))
    finished = registering.finish({**DOCUMENT, "status": status, "found": True})
    assert isinstance(finished, FinishedTransition)
    link = DocumentLink(
        document_type="PHOTO",
        storage_document_id="doc-1",
        mime_type="image/png",
        size_bytes=1024,
        checksum="abc",
    )
    assert finished.completion.documents == ((link,) if linked else ())


PLAIN = desk()


@given(private=json_objects())
def test_the_history_holds_nothing_of_data_and_results(private: JsonObject) -> None:
    marked: JsonObject = {"marker-7c1": "marker-7c1", "more": private}
    finished = PLAIN.finish({**FOUND, "shelf": "marker-7c1"}, data={**marked, "item": "marker-7c1"})
    assert isinstance(finished, FinishedTransition)
    assert "marker-7c1" not in repr(finished.detail)


@given(data=json_objects())
def test_finishing_changes_nothing_that_it_was_given(data: JsonObject) -> None:
    given_data = {**data, "item": "ladder"}
    before = canonical_bytes(given_data)
    PLAIN.finish(FOUND, data=given_data)
    assert canonical_bytes(given_data) == before


def test_results_are_kept_under_result_keys_and_others_left_out() -> None:
    actions = read_flow(chain_document()).transitions[0].actions
    unnamed = (evolve(actions[0], result_key=None), *actions[1:])
    results: dict[ActionKey, JsonObject] = {action: {"value": 1} for action in CHAIN_ACTIONS[:2]}
    assert results_by_key(unnamed, results) == {"second": {"value": 1}}


def test_the_effect_of_an_action_makes_no_difference_to_its_transition() -> None:
    finished = [
        evolve(desk(), contract=evolve(lookup_contract(), effect=effect)).finish(FOUND) for effect in Effect
    ]
    assert finished[0] == finished[1] == finished[2]


def rule(key: str) -> JsonObject:
    """Return a rule that a found item matches."""
    return {
        "id": key,
        "when": {"op": "EQ", "left": {"path": "/results/lookup/found"}, "right": {"literal": True}},
        "output": "FOUND",
    }


def decision(*rules: JsonObject) -> JsonObject:
    return {"id": "AVAILABILITY", "hitPolicy": "UNIQUE", "rules": [*rules], "defaultOutput": "MISSING"}


def with_update(target: str, *, outputs: list[JsonValue] | None = None) -> list[JsonValue]:
    """Return the transitions of the flow, CHECK with this one update of a literal."""
    update: JsonObject = {"target": target, "value": {"literal": "A3"}}
    if outputs is not None:
        update["outputs"] = outputs
    transitions = flow_document()["transitions"]
    assert isinstance(transitions, list)
    assert isinstance(transitions[0], dict)
    return [{**transitions[0], "updates": [update]}, *transitions[1:]]
