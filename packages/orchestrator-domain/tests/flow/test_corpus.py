"""The schema, the reader and the validator, held together over the corpus and by mutation."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.schema import CompiledSchema, check_schema, compile_schema
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.document import flow_findings
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import Role

ROOT = Path(__file__).parents[4]
SCHEMA_FILE = ROOT / "contracts" / "schemas" / "flow-definition.schema.json"
EXAMPLE = ROOT / "examples" / "flows" / "credito-v1.json"
VALID = sorted((ROOT / "contracts" / "corpus" / "valid").glob("*.json"))
INVALID = sorted((ROOT / "contracts" / "corpus" / "invalid").glob("*.json"))
ROLES = frozenset({Role("ANALISTA"), Role("SOLICITANTE")})

# What no JSON Schema can say: that a key is used twice in different objects, and how deep conditions go.
BEYOND_THE_SCHEMA = {"DUPLICATE_KEY", "CONDITION_TOO_DEEP"}


def document_in(file: Path) -> Any:
    return parse_json(file.read_bytes())


SCHEMA_DOCUMENT = document_in(SCHEMA_FILE)
SCHEMA: CompiledSchema = compile_schema(SCHEMA_DOCUMENT)


def structural_findings(document: JsonValue) -> list[Finding]:
    return [finding for finding in flow_findings(document)[1] if finding.code not in BEYOND_THE_SCHEMA]


def validated(document: JsonValue, resolve_contract: ResolveContract) -> tuple[Finding, ...]:
    validator = FlowSoundness(resolve_contract=resolve_contract, known_roles=ROLES)
    return validator.validate(document).findings


@pytest.mark.parametrize("file", [*VALID, EXAMPLE], ids=lambda file: file.name)
def test_a_valid_document_has_no_error(file: Path, resolve_contract: ResolveContract) -> None:
    document = document_in(file)

    assert SCHEMA.violations(document) == ()
    assert flow_findings(document)[1] == ()
    assert [each for each in validated(document, resolve_contract) if each.severity is Severity.ERROR] == []


def test_the_example_has_no_warning_either(resolve_contract: ResolveContract) -> None:
    found = validated(document_in(EXAMPLE), resolve_contract)

    assert [each for each in found if each.severity is not Severity.INFORMATION] == []


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.name)
def test_an_invalid_document_produces_the_finding_that_it_names(
    file: Path, resolve_contract: ResolveContract
) -> None:
    document = document_in(file)
    code, pointer = document["description"].split(" at ")

    errors = [each for each in validated(document, resolve_contract) if each.severity is Severity.ERROR]

    assert file.name.startswith(code.lower().replace("_", "-") + ".")
    assert (code, pointer) in [(each.code, each.pointer) for each in errors]
    assert SCHEMA.accepts(document) is (structural_findings(document) == [])


def test_every_finding_is_a_sentence() -> None:
    for file in INVALID:
        for finding in flow_findings(document_in(file))[1]:
            assert finding.message[0].isupper() or finding.message.startswith("'")
            assert finding.message.endswith(".")


def test_the_schema_is_sound_and_explains_every_member() -> None:
    assert check_schema(SCHEMA_DOCUMENT) == ()
    for place, member in explained_places(SCHEMA_DOCUMENT):
        assert member.get("title"), place
        assert member.get("description"), place


def explained_places(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an editor shows: every definition and every member of each object."""
    yield "#", schema
    for name, definition in {"": schema, **schema["$defs"]}.items():
        yield name, definition
        for member, described in definition.get("properties", {}).items():
            yield f"{name}.{member}", described


# By mutation: a document that is changed at one or two places is taken by both or by neither.

SEEDS = [document_in(file) for file in (*VALID, EXAMPLE)]
STRANGE: list[JsonValue] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**31,
    "",
    "x",
    "1x",
    "/x",
    "/event/data",
    "~",
    [],
    {},
    ["x"],
]
STRANGE += [
    {"path": "/actor"},
    {"path": "/actor/x"},
    {"literal": None},
    {"op": "EXISTS"},
    {"op": "XOR", "args": []},
]
STRANGE += [
    "/results/a~0b",
    "/results/a/b~1c",
    "/request/data\n",
    "UNIQUE",
    "FIRST",
    "k" * 100,
    "k" * 101,
    ["x", "x"],
]
NAMES = [
    "to",
    "outcome",
    "decision",
    "destinations",
    "guard",
    "hitPolicy",
    "path",
    "literal",
    "title",
    "x",
    "op",
]


def places(value: JsonValue, within: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield within
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from places(item, (*within, key))


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    document: Any = deepcopy(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 2))):
        *within, last = draw(st.sampled_from([place for place in places(document) if place]))
        container = document
        for key in within:
            container = container[key]
        mutate(draw, container, last)
    return document


def mutate(draw: st.DrawFn, container: Any, key: Any) -> None:
    match draw(st.sampled_from(["drop", "replace", "rename", "add"])):
        case "drop":
            del container[key]
        case "rename" if isinstance(container, dict):
            container[draw(st.sampled_from(NAMES))] = container.pop(key)
        case "add" if isinstance(container, dict):
            container[draw(st.sampled_from(NAMES))] = deepcopy(draw(st.sampled_from(STRANGE)))
        case _:
            container[key] = deepcopy(draw(st.sampled_from(STRANGE)))


@settings(max_examples=300)
@given(mutated())
def test_the_schema_takes_a_document_exactly_if_the_reader_does(document: JsonValue) -> None:
    assert SCHEMA.accepts(document) is (structural_findings(document) == []), canonical_json(document)


@settings(max_examples=100)
@given(mutated())
def test_a_mutated_document_is_judged_without_an_exception(document: JsonValue) -> None:
    def nothing_resolves(_action: object) -> tuple[()]:
        return ()

    report = FlowSoundness(resolve_contract=nothing_resolves).validate(document)

    if report.publishable:
        assert flow_findings(document)[0] is not None
