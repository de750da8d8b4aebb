"""What is explained is what acceptance and completion would do."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.execution.completion import Completion, RunFault
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.identifiers import EventKey, Role, StateKey, Subject
from orchestrator_domain.simulation.explanation import Explanation, Situation, explained

EXAMPLE = Path(__file__).parents[4] / "examples" / "flows" / "credito-v1.json"
ANALYST = Actor(subject=Subject("ana"), roles=frozenset({Role("ANALISTA")}))
VALID: dict[str, Any] = {
    "state": "BURO_PENDIENTE",
    "data": {"clienteId": "C"},
    "event": "VALIDAR_BURO",
    "event_data": {"consentReference": "R"},
    "actor": ANALYST,
    "results": {"buro": {"score": 65, "consultationId": "c"}},
}


@pytest.fixture
def flow() -> FlowDefinition:
    return read_flow(parse_json(EXAMPLE.read_bytes()))


def explanation(flow: FlowDefinition, **changes: Any) -> Explanation:
    values = {**VALID, **changes}
    return explained(
        flow,
        Situation(
            **{**values, "state": StateKey(values["state"]), "event": EventKey(values["event"])},
        ),
    )


def test_with_results_the_rule_that_decides_and_the_end_are_told(flow: FlowDefinition) -> None:
    told = explanation(flow)

    assert told.refusal is None
    assert told.decision is not None
    assert [rule.rule for rule in told.decision.rules if rule.condition.answer is True] == ["medio"]
    assert [each.change for each in told.decision.alternatives] == ["buro.score > 70", "buro.score ≤ 60"]
    assert isinstance(told.outcome, Completion)
    assert (told.outcome.state, told.outcome.result["outcome"]) == ("PASO_M", "M")


def test_without_results_it_is_said_which_are_missing(flow: FlowDefinition) -> None:
    told = explanation(flow, results=None)

    assert (told.refusal, told.missing_results, told.decision) == (None, ("buro",), None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"event": "ASIGNAR_CLIENTE"}, "INVALID_EVENT"),
        ({"state": "PASO_N"}, "INVALID_EVENT"),
        ({"state": "NADA"}, "INVALID_EVENT"),
        ({"actor": Actor(subject=Subject("eva"))}, "ACCESS_DENIED"),
        ({"event_data": {}}, "SCHEMA_VIOLATION"),
        ({"data": {}}, "GUARD_NOT_SATISFIED"),
        ({"actor": Actor(subject=Subject("eva")), "event_data": {}, "data": {}}, "ACCESS_DENIED"),
    ],
)
def test_the_first_check_that_fails_is_the_refusal(
    flow: FlowDefinition, changes: dict[str, Any], code: str
) -> None:
    refusal = explanation(flow, **changes).refusal

    assert refusal is not None
    assert refusal.code == code


def test_without_an_actor_roles_are_not_judged(flow: FlowDefinition) -> None:
    checks = {check.name: check.passed for check in explanation(flow, actor=None).checks}

    assert checks == {"transition": True, "role": None, "event data": True, "guard": True}


def test_a_transition_that_would_fail_is_told_with_its_code(flow: FlowDefinition) -> None:
    outcome = explanation(flow, results={"buro": {"score": "high"}}).outcome

    assert isinstance(outcome, RunFault)
    assert outcome.code == "EVALUATION_ERROR"
