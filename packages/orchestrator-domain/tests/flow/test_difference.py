"""Versions of a flow compared: parts, decisions and inputs."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.difference import FlowDifference, InputChange, PartChange, flow_difference
from orchestrator_domain.flow.document import read_flow

EXAMPLE = Path(__file__).parents[4] / "examples" / "flows" / "credito-v1.json"


@pytest.fixture
def old() -> Any:
    return parse_json(EXAMPLE.read_bytes())


@pytest.fixture
def new(old: Any) -> Any:
    return deepcopy(old)


def difference(old: Any, new: Any) -> FlowDifference:
    return flow_difference(read_flow(old), read_flow(new))


def test_the_order_of_parts_and_the_version_are_no_difference(old: Any, new: Any) -> None:
    new["version"] = 2
    for member in ("states", "events", "transitions", "decisions"):
        new[member].reverse()

    assert difference(old, new).is_empty


def test_parts_are_added_removed_and_changed(old: Any, new: Any) -> None:
    new["states"].append({"key": "OTRA", "terminal": True})
    new["transitions"][0]["allowedRoles"] = ["SOLICITANTE"]
    del new["restrictedData"][0]

    found = difference(old, new).parts

    assert PartChange(noun="state", key="OTRA", change="added") in found
    assert PartChange(noun="restricted path", key="/validaciones/buro", change="removed") in found
    changed = [part for part in found if part.noun == "transition"]
    assert [(part.change, part.members) for part in changed] == [("changed", ("allowedRoles",))]


def test_a_decision_is_compared_by_what_it_answers(old: Any, new: Any) -> None:
    new["decisions"][2]["rules"].reverse()
    assert difference(old, new).decisions == ()

    new["decisions"][2]["defaultOutput"] = "N"

    (change,) = difference(old, new).decisions
    assert [region.where for region in change.difference.regions] == ["buro.score ≤ 60"]


def inputs(old: Any, new: Any, place: str) -> list[InputChange]:
    return [change for change in difference(old, new).inputs if change.place == place]


def test_inputs_that_stop_being_accepted_are_told_exactly_and_with_an_example(old: Any, new: Any) -> None:
    new["creation"]["inputSchema"]["properties"]["plazoMeses"]["maximum"] = 60

    (change,) = inputs(old, new, "creation")

    lost = compile_schema(change.values)
    assert not change.starts
    assert [months for months in (1, 60, 61, 120, 121) if lost.accepts({"plazoMeses": months})] == [61, 120]
    assert change.example == {"plazoMeses": 61}


def test_inputs_that_start_being_accepted_are_told_too(old: Any, new: Any) -> None:
    new["creation"]["inputSchema"]["properties"]["nota"] = {"type": "string"}

    (change,) = inputs(old, new, "creation")

    assert change.starts
    assert change.example == {"nota": ""}


def test_a_shared_schema_of_one_version_is_never_taken_for_that_of_the_other(old: Any, new: Any) -> None:
    new["schemas"]["documento"]["properties"]["sizeBytes"]["maximum"] = 5
    size = {"documentId": "00000000-0000-4000-8000-000000000000", "mimeType": "", "checksum": ""}

    (change,) = inputs(old, new, "data")

    lost = compile_schema(change.values)
    assert lost.accepts({"documentos": {"ine": {**size, "sizeBytes": 6}}})
    assert not lost.accepts({"documentos": {"ine": {**size, "sizeBytes": 5}}})


def test_where_values_cannot_be_told_that_is_said(old: Any, new: Any) -> None:
    schema = new["events"][0]["inputSchema"]
    schema["allOf"] = [{"if": {"required": [f"a{n}"]}, "then": {"required": ["b"]}} for n in range(20)]
    schema["properties"]["clienteId"]["maxLength"] = 3

    stops = next(change for change in inputs(old, new, "event ASIGNAR_CLIENTE") if not change.starts)

    assert stops.values is None
