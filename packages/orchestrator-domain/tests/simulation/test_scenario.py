"""What would come of an event is what does come of it."""

from collections.abc import Mapping
from typing import cast

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, EventKey, Role, StateKey, TransitionKey
from orchestrator_domain.simulation.fault_place import fault_place
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT
from orchestrator_domain.simulation.scenario import (
    NotAccepted,
    Scenario,
    Simulated,
    SimulatedUpdate,
    Stopped,
    Transitioned,
    simulated,
)
from orchestrator_domain.testing.examples import CLERK, LOOKUP, flow_document, lookup_contract

CHECK = TransitionKey("check")
CONTRACTS = {(CHECK, LOOKUP): lookup_contract()}
FOUND: JsonObject = {"found": True, "shelf": "A1"}


def ready(**changes: JsonValue) -> ReadyFlow:
    return ReadyFlow(definition=read_flow({**flow_document(), **changes}))


def changed_check(**changes: JsonValue) -> ReadyFlow:
    transitions = cast("list[JsonObject]", flow_document()["transitions"])
    return ready(transitions=[{**transitions[0], **changes}, transitions[1]])


def scenario(
    *,
    event: str = "CHECK",
    state: str = "OPEN",
    data: JsonObject | None = None,
    event_data: JsonObject | None = None,
    actor: Actor = CLERK,
    results: Mapping[str, JsonObject] | None = None,
) -> Scenario:
    return Scenario(
        state=StateKey(state),
        data={"item": "ladder"} if data is None else data,
        event=EventKey(event),
        event_data=event_data or {},
        actor=actor,
        results={ActionKey(key): value for key, value in (results or {}).items()},
    )


def tried(
    tried_scenario: Scenario,
    flow: ReadyFlow | None = None,
    *,
    contracts: Mapping[tuple[TransitionKey, ActionKey], ActionContract] | None = None,
    limits: FlowLimits | None = None,
) -> Simulated:
    return simulated(
        flow or ready(),
        tried_scenario,
        contracts=CONTRACTS if contracts is None else contracts,
        evaluate=CompiledDecisionEvaluator().evaluate,
        limits=limits or FlowLimits(),
    )


def stopped(found: Simulated, flow: ReadyFlow | None = None) -> tuple[str, str]:
    """Return the fault's code and its place in the definition."""
    assert isinstance(found, Stopped)
    return found.fault.code, fault_place((flow or ready()).definition, found.transition, found.fault)


def test_a_transition_is_shown_with_inputs_trace_updates_and_what_it_leaves() -> None:
    found = tried(scenario(results={"lookup": FOUND}))
    assert isinstance(found, Transitioned)
    assert (found.state, found.outcome) == ("LENT", "FOUND")
    assert found.data == {"item": "ladder", "lookup": FOUND}
    assert [(each.action, each.inputs, each.result) for each in found.actions] == [
        ("lookup", {"item": "ladder"}, FOUND)
    ]
    assert found.updates == (SimulatedUpdate(target="/lookup", value=FOUND),)
    assert found.trace["decision"] == {
        "id": "AVAILABILITY",
        "hitPolicy": "UNIQUE",
        "output": "FOUND",
        "ruleIds": ["found"],
        "byDefault": False,
    }


def test_a_transition_without_decision_has_its_outcome_and_no_trace() -> None:
    found = tried(scenario(event="WITHDRAW"))
    assert isinstance(found, Transitioned)
    assert (found.state, found.outcome, found.trace["decision"]) == ("WITHDRAWN", "withdraw", None)


def test_only_the_updates_of_the_output_are_shown_and_applied() -> None:
    path: JsonObject = {"path": "/results/lookup/shelf"}
    flow = changed_check(
        updates=[
            {"target": "/shelf", "value": path, "outputs": ["FOUND"]},
            {"target": "/missing", "value": {"literal": True}, "outputs": ["MISSING"]},
        ]
    )
    found = tried(scenario(results={"lookup": {"found": False}}), flow)
    assert isinstance(found, Transitioned)
    assert [update.target for update in found.updates] == ["/missing"]
    assert found.data == {"item": "ladder", "missing": True}


@pytest.mark.parametrize(
    ("supposed", "code"),
    [
        (scenario(event="GONE"), "INVALID_EVENT"),
        (scenario(state="LENT"), "INVALID_EVENT"),
        (scenario(actor=evolve(CLERK, roles=frozenset({Role("VISITOR")}))), "ACCESS_DENIED"),
        (scenario(event_data={"score": 99}), "SCHEMA_VIOLATION"),
    ],
)
def test_an_event_that_would_be_refused_is_told_as_acceptance_tells_it(supposed: Scenario, code: str) -> None:
    found = tried(supposed)
    assert isinstance(found, NotAccepted)
    assert found.refusal.code == code


def test_a_guard_is_judged_too() -> None:
    guard: JsonObject = {"op": "EQ", "left": {"path": "/request/data/item"}, "right": {"literal": "drill"}}
    found = tried(scenario(), changed_check(guard=guard))
    assert isinstance(found, NotAccepted)
    assert found.refusal.code == "GUARD_NOT_SATISFIED"


def test_a_missing_result_stops_at_its_action() -> None:
    assert stopped(tried(scenario())) == ("RESULT_MISSING", "/transitions/0/actions/0")


def test_a_supplied_result_is_held_to_its_contract() -> None:
    found = tried(scenario(results={"lookup": {"found": "yes"}}))
    assert stopped(found) == ("CONTRACT_VIOLATION", "/transitions/0/actions/0")


def test_an_input_that_is_absent_is_a_fault_at_the_input() -> None:
    found = tried(scenario(data={}, results={"lookup": FOUND}))
    assert stopped(found) == ("EVALUATION_ERROR", "/transitions/0/actions/0/inputs/item")


def test_an_action_that_the_deployment_can_t_serve_stops_there() -> None:
    found = tried(scenario(results={"lookup": FOUND}), contracts={})
    assert stopped(found) == ("INTEGRATION_UNAVAILABLE", "/transitions/0/actions/0")


def test_a_rule_that_can_t_be_evaluated_is_named() -> None:
    rule: JsonObject = {"op": "GT", "left": {"path": "/results/lookup/shelf"}, "right": {"literal": 1}}
    decision: JsonObject = {
        "id": "AVAILABILITY",
        "rules": [{"id": "found", "when": rule, "output": "FOUND"}],
        "defaultOutput": "MISSING",
    }
    flow = ready(decisions=[decision])
    found = tried(scenario(results={"lookup": FOUND}), flow)
    assert stopped(found, flow) == ("EVALUATION_ERROR", "/decisions/0/rules/0")


def test_an_ambiguous_decision_is_named() -> None:
    rules = cast("list[JsonObject]", cast("list[JsonObject]", flow_document()["decisions"])[0]["rules"])
    decision: JsonObject = {
        "id": "AVAILABILITY",
        "rules": [rules[0], {**rules[0], "id": "again"}],
        "defaultOutput": "MISSING",
    }
    flow = ready(decisions=[decision])
    found = tried(scenario(results={"lookup": FOUND}), flow)
    assert stopped(found, flow) == ("AMBIGUOUS_DECISION", "/decisions/0")


def test_an_update_whose_value_is_absent_is_named() -> None:
    flow = changed_check(updates=[{"target": "/shelf", "value": {"path": "/results/lookup/shelf"}}])
    found = tried(scenario(results={"lookup": {"found": True}}), flow)
    assert stopped(found, flow) == ("EVALUATION_ERROR", "/transitions/0/updates/0")


def test_data_that_would_break_the_flow_s_schema_or_limit_is_a_fault() -> None:
    schema: JsonObject = {"type": "object", "properties": {"lookup": {"required": ["shelf"]}}}
    flow = ready(dataSchema=schema)
    found = tried(scenario(results={"lookup": {"found": True}}), flow)
    assert stopped(found, flow) == ("DATA_SCHEMA_VIOLATION", "/dataSchema")
    large = tried(scenario(results={"lookup": FOUND}), limits=FlowLimits(data_bytes_max=20))
    assert stopped(large) == ("DATA_TOO_LARGE", "/transitions/0")


def test_no_op_needs_no_result_and_gives_what_is_supplied() -> None:
    action: JsonObject = {"id": "lookup", "type": "NO_OP", "inputs": {}, "resultKey": "lookup"}
    flow = changed_check(actions=[action])
    contracts = {(CHECK, LOOKUP): NO_OP_CONTRACT}
    supplied = tried(scenario(results={"lookup": FOUND}), flow, contracts=contracts)
    assert isinstance(supplied, Transitioned)
    assert supplied.outcome == "FOUND"
    assert stopped(tried(scenario(), flow, contracts=contracts), flow)[0] == "EVALUATION_ERROR"


@pytest.mark.parametrize(
    ("supposed", "pointer"),
    [
        (scenario(state="GONE"), "/state"),
        (scenario(data={"item": 7}), "/data/item"),
        (scenario(results={"other": {}}), "/results"),
    ],
)
def test_a_scenario_that_can_t_be_is_refused_with_its_place(supposed: Scenario, pointer: str) -> None:
    flow = ready(dataSchema={"type": "object", "properties": {"item": {"type": "string"}}})
    with pytest.raises(InvalidInput) as refusal:
        tried(supposed, flow)
    assert refusal.value.pointer == pointer
