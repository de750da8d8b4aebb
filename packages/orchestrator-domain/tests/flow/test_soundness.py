"""What the corpus can't show: all findings at once, warnings, limits, sharing, and documents that are only half read."""

from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.contract import ActionContract, ContractFault, ResolveContract
from orchestrator_domain.flow.definition import ActionDefinition, Directly
from orchestrator_domain.flow.document import flow_findings, read_flow
from orchestrator_domain.flow.findings import Severity, ValidationReport
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness, pin_contracts

ROOT = Path(__file__).parents[4]


@pytest.fixture
def flow() -> Any:
    """Return a sound flow that a test may change."""
    return parse_json((ROOT / "contracts" / "corpus" / "valid" / "base.json").read_bytes())


@pytest.fixture
def example() -> Any:
    return parse_json((ROOT / "examples" / "flows" / "credito-v1.json").read_bytes())


@pytest.fixture
def soundness(resolve_contract: ResolveContract) -> FlowSoundness:
    return FlowSoundness(resolve_contract=resolve_contract)


def found(report: ValidationReport) -> list[tuple[str, str]]:
    """Return code and place of all but information."""
    return [
        (finding.code, finding.pointer)
        for finding in report.findings
        if finding.severity is not Severity.INFORMATION
    ]


def test_structural_and_semantic_findings_come_at_once_in_the_order_of_the_document(
    flow: Any, soundness: FlowSoundness
) -> None:
    flow["initialState"] = "ABIERTO"
    flow["states"][2]["final"] = True
    flow["events"].append({"key": "OTRO", "inputSchema": {"type": "nada"}})
    flow["transitions"][0]["destinations"]["AUSENTE"] = "NINGUNO"
    flow["tasks"][0]["event"] = "CONSULTA"

    assert found(soundness.validate(flow)) == [
        ("UNKNOWN_STATE", "/initialState"),
        ("UNKNOWN_MEMBER", "/states/2/final"),
        ("NOT_A_SCHEMA", "/events/1/inputSchema/type"),
        ("UNKNOWN_STATE", "/transitions/0/destinations/AUSENTE"),
        ("UNKNOWN_EVENT", "/tasks/0/event"),
    ]


def test_a_part_that_can_not_be_read_is_still_known_by_its_key(flow: Any, soundness: FlowSoundness) -> None:
    flow["states"][1]["terminal"] = "si"
    flow["events"][0]["inputSchema"] = 7
    del flow["decisions"][0]["defaultOutput"]

    assert found(soundness.validate(flow)) == [
        ("WRONG_KIND", "/states/1/terminal"),
        ("WRONG_KIND", "/events/0/inputSchema"),
        ("MISSING_MEMBER", "/decisions/0"),
    ]


def test_an_unreadable_rule_does_not_make_its_output_unknown(flow: Any, soundness: FlowSoundness) -> None:
    flow["decisions"][0]["rules"][0]["when"] = {"op": "XOR"}

    assert found(soundness.validate(flow)) == [("UNKNOWN_OPERATOR", "/decisions/0/rules/0/when/op")]


def test_what_is_declared_and_never_used_is_a_warning(flow: Any, soundness: FlowSoundness) -> None:
    flow["events"].append({"key": "OTRO", "inputSchema": True})
    flow["decisions"].append({**deepcopy(flow["decisions"][0]), "id": "OTRA"})

    report = soundness.validate(flow)

    assert report.publishable
    assert found(report) == [("UNUSED_EVENT", "/events/1"), ("UNUSED_DECISION", "/decisions/1")]


def test_a_circle_without_end_is_a_warning(flow: Any, soundness: FlowSoundness) -> None:
    flow["states"] += [{"key": "A", "terminal": False}]
    flow["transitions"][0]["destinations"]["AUSENTE"] = "A"
    flow["states"] = [state for state in flow["states"] if state["key"] != "RECHAZADA"]
    flow["transitions"].append(
        {"id": "girar", "from": "A", "event": "CONSULTAR", "allowedRoles": ["ANALISTA"], "to": "A"}
    )

    assert found(soundness.validate(flow)) == [("NO_WAY_TO_AN_END", "/states/2")]


def test_exists_on_what_can_never_be_there_is_a_warning(flow: Any, soundness: FlowSoundness) -> None:
    flow["transitions"][0]["guard"]["arg"]["arg"]["path"] = "/request/data/cliente/nombre"

    report = soundness.validate(flow)

    assert found(report) == [("ALWAYS_FALSE", "/transitions/0/guard/arg/arg/path")]
    assert report.findings[0].suggestion == "clienteId"


def test_a_shared_decision_is_judged_for_each_transition_that_uses_it(
    example: Any, soundness: FlowSoundness
) -> None:
    example["transitions"][2]["actions"][0]["resultKey"] = "otro"

    report = soundness.validate(example)

    assert ("RESULT_NOT_AVAILABLE", "/decisions/1/rules/0/when/args/0/left/path") in found(report)
    assert "'registrar-estado-cuenta'" in next(
        finding.message for finding in report.findings if finding.pointer.startswith("/decisions")
    )


def test_targets_may_overlap_where_their_outputs_never_meet(flow: Any, soundness: FlowSoundness) -> None:
    apart = [
        {"target": "/notas", "value": {"literal": {}}, "outputs": ["HALLADO"]},
        {"target": "/notas/primera", "value": {"literal": "x"}, "outputs": ["AUSENTE"]},
        {"target": "/notasVarias", "value": {"literal": {}}},
    ]
    del flow["dataSchema"]
    flow["transitions"][0]["updates"] = apart
    separate = soundness.validate(flow)
    apart[1]["outputs"] = ["AUSENTE", "HALLADO"]
    meeting = soundness.validate(flow)

    assert found(separate) == []
    assert found(meeting) == [("OVERLAPPING_TARGETS", "/transitions/0/updates/1/target")]


def test_rules_that_overlap_are_shown_by_a_witness(example: Any, soundness: FlowSoundness) -> None:
    example["decisions"][2]["rules"][1]["when"]["args"][1]["right"]["literal"] = 71

    errors = soundness.validate(example).errors

    assert [(each.code, each.pointer) for each in errors] == [
        ("OVERLAPPING_RULES", "/decisions/2/rules/1/when")
    ]
    assert errors[0].witness == {"results": {"buro": {"score": Decimal("70.1")}}}


def test_what_only_the_default_catches_and_what_is_not_decided_is_information(
    flow: Any, soundness: FlowSoundness
) -> None:
    rules = flow["decisions"][0]["rules"]
    decided = soundness.validate(flow).findings
    rules[0]["when"]["right"] = {"path": "/actor/subject"}
    undecided = soundness.validate(flow).findings

    assert [(each.code, each.severity, each.witness) for each in decided] == [
        ("ENDS_IN_ERROR", Severity.INFORMATION, {"results": {"cliente": {"found": 0}}}),
        ("LEFT_TO_DEFAULT", Severity.INFORMATION, {"results": {"cliente": {"found": False}}}),
    ]
    assert [(each.code, each.severity) for each in undecided] == [("UNDECIDED_RULE", Severity.INFORMATION)]


def test_rules_without_effect_are_warnings(example: Any, soundness: FlowSoundness) -> None:
    decision = example["decisions"][2]
    decision["hitPolicy"] = "FIRST"
    decision["rules"][0]["when"]["right"]["literal"] = 60
    never = deepcopy(decision["rules"][1])
    never["id"], never["when"]["args"][0]["right"]["literal"] = "nunca", 80
    decision["rules"].append(never)

    report = soundness.validate(example)

    assert report.publishable
    assert found(report) == [
        ("RULE_MASKED", "/decisions/2/rules/1/when"),
        ("RULE_NEVER_MATCHES", "/decisions/2/rules/2/when"),
    ]


def test_a_near_name_is_suggested(flow: Any, soundness: FlowSoundness) -> None:
    flow["transitions"][0]["allowedrole"] = flow["transitions"][0].pop("allowedRoles")
    flow["decisions"][0]["rules"][0]["when"]["op"] = "equals"

    suggestions = {finding.code: finding.suggestion for finding in soundness.validate(flow).errors}

    assert suggestions == {
        "MISSING_MEMBER": None,
        "UNKNOWN_MEMBER": "allowedRoles",
        "UNKNOWN_OPERATOR": None,
    }


@pytest.mark.parametrize("document", [None, 1, "flow", [], {}, {"states": 3}, {"transitions": [None, {}]}])
def test_anything_else_than_a_flow_is_a_finding(document: Any, soundness: FlowSoundness) -> None:
    assert not soundness.validate(document).publishable


def test_what_is_no_exact_json_is_a_finding(flow: Any, soundness: FlowSoundness) -> None:
    flow["version"] = 1.5
    deep: Any = {"op": "EXISTS"}
    for _ in range(10_000):
        deep = {"op": "NOT", "arg": deep}
    too_deep = {**flow, "version": 1, "description": deep}

    assert found(soundness.validate(flow)) == [("INEXACT_JSON", "/version")]
    assert [code for code, _ in found(soundness.validate(too_deep))] == ["INEXACT_JSON"]


def test_the_reader_survives_any_nesting_of_conditions(flow: Any) -> None:
    deep: Any = {"op": "EXISTS", "arg": {"path": "/actor"}}
    for _ in range(10_000):
        deep = {"op": "NOT", "arg": deep}
    flow["transitions"][0]["guard"] = deep

    assert [finding.code for finding in flow_findings(flow)[1]] == ["CONDITION_TOO_DEEP"]


# Limits: held at the limit, refused one beyond.


def limited(resolve_contract: ResolveContract, **limits: int) -> FlowSoundness:
    return FlowSoundness(resolve_contract=resolve_contract, limits=FlowLimits(**limits))


def test_a_definition_is_held_to_its_size_in_canonical_bytes(
    flow: Any, resolve_contract: ResolveContract
) -> None:
    size = len(canonical_bytes(flow))

    assert limited(resolve_contract, definition_bytes_max=size).validate(flow).publishable
    report = limited(resolve_contract, definition_bytes_max=size - 1).validate(flow)
    assert found(report) == [("DEFINITION_TOO_LARGE", "")]


@pytest.mark.parametrize(
    ("limit", "size", "code", "pointer"),
    [
        ("states_max", 7, "TOO_MANY_STATES", "/states"),
        ("transitions_max", 4, "TOO_MANY_TRANSITIONS", "/transitions"),
        ("actions_max", 2, "TOO_MANY_ACTIONS", "/transitions/1/actions"),
        ("condition_depth_max", 2, "CONDITION_TOO_DEEP", "/decisions/1/rules/0/when"),
        ("decision_nodes_max", 4, "DECISION_TOO_LARGE", "/decisions/2"),
    ],
)
def test_a_limit_holds_at_the_limit_and_refuses_one_beyond(
    limit: str, size: int, code: str, pointer: str, example: Any, resolve_contract: ResolveContract
) -> None:
    at_the_limit = limited(resolve_contract, **{limit: size}).validate(example)
    beyond = limited(resolve_contract, **{limit: size - 1}).validate(example)

    assert at_the_limit.publishable
    assert (code, pointer) in found(beyond)


@pytest.mark.parametrize(
    "limits", [{"states_max": 0}, {"condition_depth_max": 26}, {"data_bytes_max": 2**40}]
)
def test_a_limit_can_not_be_set_beyond_its_hard_maximum(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(limits))):
        FlowLimits(**limits)


# Reading and pinning.


def test_a_flow_is_read_into_its_parts(example: Any) -> None:
    definition = read_flow(example)
    transition = definition.transition_for(definition.initial_state, definition.events[0].key)

    assert transition is not None
    assert transition.actions[0].configuration == {}
    assert definition.transitions[1].actions[0].configuration["maxBytes"] == 10485760
    assert definition.document is example


def test_the_outcome_of_a_direct_route_is_the_transition_unless_one_is_written(flow: Any) -> None:
    direct = flow["transitions"][0]
    del direct["decision"], direct["destinations"]
    direct["to"] = "CERRADA"

    assert read_flow(flow).transitions[0].route == Directly(to="CERRADA", outcome="consultar")  # type: ignore[arg-type]
    direct["outcome"] = "LISTA"
    assert read_flow(flow).transitions[0].route == Directly(to="CERRADA", outcome="LISTA")  # type: ignore[arg-type]


def test_an_integer_may_be_written_with_a_fraction_of_zero(flow: Any) -> None:
    flow["version"] = Decimal("2.0")

    assert repr(read_flow(flow).version) == "2"


def test_a_document_that_is_no_flow_is_refused_with_all_findings() -> None:
    with pytest.raises(FlowInvalid) as refusal:
        read_flow({"schemaVersion": 1, "flowKey": "9", "version": True})

    assert {finding.code for finding in refusal.value.findings} == {
        "MISSING_MEMBER",
        "INVALID_KEY",
        "WRONG_KIND",
    }


def test_a_value_is_never_quoted(flow: Any, soundness: FlowSoundness) -> None:
    flow["version"] = "secreto"
    flow["transitions"][0]["allowedRoles"] = "secreto"
    flow["transitions"][0]["updates"][0]["value"] = {"path": "/secreto"}
    flow["decisions"][0]["rules"][0]["when"]["right"] = {"literal": {"secreto": "secreto"}}

    report = soundness.validate(flow)

    assert len(report.errors) == 4
    assert "secreto" not in repr(report)


def test_each_action_is_pinned_to_the_contract_that_it_was_published_with(
    example: Any, resolve_contract: ResolveContract
) -> None:
    pins = pin_contracts(read_flow(example), resolve_contract)

    assert [(pin.transition, pin.action, pin.profile, pin.profile_version) for pin in pins[:3]] == [
        ("asignar-cliente", "consultar-cliente", None, None),
        ("registrar-ine", "registrar", None, None),
        ("registrar-ine", "validar", "INE", 1),
    ]
    assert all(pin.checksum == "0" * 64 for pin in pins)


def test_an_action_without_contract_can_not_be_pinned(example: Any) -> None:
    def refuse(_action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        return (ContractFault(code="UNKNOWN_INTEGRATION", pointer="/integrationKey", message="Unknown."),)

    with pytest.raises(FlowInvalid) as refusal:
        pin_contracts(read_flow(example), refuse)

    assert refusal.value.findings[0].pointer == "/transitions/0/actions/0/integrationKey"
    assert refusal.value.findings[0].severity is Severity.ERROR


def test_schemas_with_too_many_alternatives_are_said_to_be_searched_in_part(
    flow: Any, soundness: FlowSoundness
) -> None:
    schema = {"allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]} for _ in range(13)]}
    flow["events"] += [{"key": f"E{number}", "inputSchema": deepcopy(schema)} for number in range(17)]

    told = [finding for finding in soundness.validate(flow).findings if finding.pointer == ""]

    assert [(each.code, each.severity) for each in told] == [("ANALYSIS_INCOMPLETE", Severity.INFORMATION)]


def test_a_false_part_is_taken_as_meant_and_another_empty_part_is_a_warning(
    flow: Any, soundness: FlowSoundness
) -> None:
    properties = flow["events"][0]["inputSchema"]["properties"]
    properties["forbidden"] = False
    properties["impossible"] = {"type": "string", "enum": [1]}

    assert found(soundness.validate(flow)) == [
        ("UNSATISFIABLE_SCHEMA", "/events/0/inputSchema/properties/impossible")
    ]


def test_a_task_may_list_the_same_types_in_another_order(flow: Any, soundness: FlowSoundness) -> None:
    action = flow["transitions"][0]["actions"][0]
    action["acceptedMimeTypes"] = ["image/png", "application/pdf"]
    flow["tasks"][0]["ui"]["acceptedMimeTypes"] = ["application/pdf", "image/png"]

    assert "TASK_UI_DISAGREES" not in {code for code, _ in found(soundness.validate(flow))}
