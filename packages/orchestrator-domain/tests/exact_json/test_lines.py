"""Lines of JSON are read as each of them alone."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.lines import parse_json_lines
from orchestrator_domain.exact_json.text import MalformedJson, dump_json, parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.testing.strategies import json_objects

HOSTILE = [
    b"{",
    b"[]",
    b'{"a": 1, "a": 2}',
    b'{"a": NaN}',
    b'{"a": 1e131071}',
    b'{"a": ' + b"1" * 41 + b"}",
    b'{"a": 0.' + b"1" * 41 + b"}",
    b'{"a": "\\u0000"}',
    b'{"a": "\\ud800"}',
    b'{"a": "\xff"}',
    b'\xef\xbb\xbf{"a": 1}',
    b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}",
    b'{"a": 1} {"b": 2}',
    b'{"a": 1},',
    b"{} \x00",
]


@given(st.lists(json_objects(), max_size=8))
def test_each_line_gives_what_it_gives_alone(values: list[JsonObject]) -> None:
    lines = [dump_json(value).encode() for value in values]

    assert [dump_json(value) for value in parse_json_lines(lines)] == [
        dump_json(parse_json(line)) for line in lines
    ]


@pytest.mark.parametrize("line", HOSTILE)
@pytest.mark.parametrize("before", [0, 1, 511, 512, 600])
def test_a_line_that_is_refused_alone_is_refused_with_its_number(line: bytes, before: int) -> None:
    read: list[JsonObject] = []
    with pytest.raises(MalformedJson) as refusal:
        read.extend(parse_json_lines([b'{"a": 1}\n'] * before + [line, b"{}"]))
    assert (len(read), refusal.value.line) == (before, before + 1)


@given(st.binary(max_size=60))
@example(b'{"a":1e200}')
@example(b'{"\\u0061": 1}')
def test_any_bytes_are_taken_or_refused_as_alone(line: bytes) -> None:
    try:
        alone = parse_json(line)
    except MalformedJson:
        alone = None
    try:
        together = list(parse_json_lines([line]))
    except MalformedJson:
        together = []
    assert together == ([alone] if isinstance(alone, dict) else [])


def test_lines_of_white_space_are_skipped_and_counted() -> None:
    assert list(parse_json_lines([b"\n", b"{}\n", b"", b"  \t\n", b"{}"])) == [{}, {}]
    with pytest.raises(MalformedJson) as refusal:
        list(parse_json_lines([b"\n", b"[1]"]))
    assert (refusal.value.line, refusal.value.message) == (2, "A line holds one JSON object.")
