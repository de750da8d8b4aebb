"""Lines of JSON are decided as the evaluator decides what strict reading makes of each, faults included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.text import MalformedJson, dump_json, parse_json
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.simulation.json_lines import evaluate_json_lines
from orchestrator_domain.testing.decision_strategies import decision_contexts, decisions
from orchestrator_domain.testing.examples import flow_document

type Told = tuple[list[DecisionResult], tuple[str, int | None, int | None] | None]

AVAILABILITY = read_flow(flow_document()).decisions[0]
FOUND = b'{"results":{"lookup":{"found":true}}}'
MISSING = b'{"results":{"lookup":{"found":false}}}'
ABSENT = b'{"results":{"lookup":{}}}'
HOSTILE = [
    b"",
    b" \t",
    b"[]",
    b"{}",
    b"{",
    FOUND + FOUND,
    FOUND + b"\n" + FOUND,
    FOUND[:20] + b"\n" + FOUND[20:],
    FOUND + b"\r",
    b"\xef\xbb\xbf" + FOUND,
    b'{"results":{"lookup":{"found":\xff}}}',
    b'{"results":{"lookup":{"found":"\xed\xa0\x80"}}}',
    b'{"results":{"lookup":{"found":true,"found":true}}}',
    b'{"results":{"lookup":{"found":1e999}}}',
    b'{"results":{"lookup":{"found":NaN}}}',
    b'{"results":{"lookup":{"found":"\\ud800"}}}',
    b'{"results":{"lookup":{"found":' + b"1" * 41 + b"}}}",
]


def alone(definition: DecisionDefinition, lines: list[bytes]) -> Told:
    """Decide each line by itself, up to the first that holds no object."""
    results: list[DecisionResult] = []
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        try:
            context = parse_json(line)
        except MalformedJson as fault:
            return results, (fault.message, number, fault.column)
        if not isinstance(context, dict):
            return results, ("A line holds one JSON object.", number, 1)
        results.append(CompiledDecisionEvaluator().evaluate(definition, context))
    return results, None


def together(definition: DecisionDefinition, lines: list[bytes]) -> Told:
    results: list[DecisionResult] = []
    try:
        results.extend(evaluate_json_lines(definition, lines))
    except MalformedJson as fault:
        return results, (fault.message, fault.line, fault.column)
    return results, None


@given(decisions(), st.lists(decision_contexts(), min_size=1, max_size=3), st.data())
def test_contexts_of_few_shapes_are_decided_as_each_alone(
    definition: DecisionDefinition, contexts: list[dict[str, object]], data: st.DataObject
) -> None:
    texts = [dump_json(context).encode() for context in contexts]  # type: ignore[arg-type]
    end = data.draw(st.sampled_from([b"", b"\n"]))
    lines = [text + end for text in data.draw(st.lists(st.sampled_from(texts), max_size=12))]
    assert together(definition, lines) == alone(definition, lines)


@given(
    st.lists(st.sampled_from([FOUND, MISSING, ABSENT, *HOSTILE]), max_size=8), st.sampled_from([b"", b"\n"])
)
def test_whatever_stands_between_good_lines_is_told_as_alone(lines: list[bytes], end: bytes) -> None:
    ended = [line + end for line in lines]
    assert together(AVAILABILITY, ended) == alone(AVAILABILITY, ended)
    mixed = [line + b"\n" * (number % 2) for number, line in enumerate(lines)]
    assert together(AVAILABILITY, mixed) == alone(AVAILABILITY, mixed)


@pytest.mark.parametrize("before", [0, 1, 1023, 1024, 3000])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_line_is_told_by_its_number_wherever_it_stands(before: int, hostile: bytes) -> None:
    lines = [FOUND, MISSING] * (before // 2) + [FOUND] * (before % 2) + [hostile, FOUND, MISSING]
    assert together(AVAILABILITY, lines) == alone(AVAILABILITY, lines)


def test_lines_that_have_no_shape_in_common_are_decided_strictly_in_the_end() -> None:
    lines = [
        b'{"results":{"lookup":{"found":%s}}, "n": 1e%d}' % (b"true", number % 9) for number in range(9000)
    ]
    lines.append(b"{")
    results, refusal = together(AVAILABILITY, lines)
    assert len(results) == 9000
    assert refusal is not None
    assert refusal[1] == 9001
