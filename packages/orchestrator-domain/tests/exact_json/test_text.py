import json
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS, JsonLimits
from orchestrator_domain.exact_json.scan import first_excess, tokens
from orchestrator_domain.exact_json.text import MalformedJson, dump_json, parse_json
from orchestrator_domain.exact_json.value import InexactJson, JsonValue, check_exact
from orchestrator_domain.testing.strategies import json_values, numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-0", 0),
        ("-0.0", Decimal("-0.0")),
        ("1.10", Decimal("1.10")),
        ("1e2", Decimal("1e2")),
        ("1E-100", Decimal("1e-100")),
        ("1" + "0" * 100, 10**100),
        ("0." + "0" * 99 + "1", Decimal("1e-100")),
        ("true", True),
        (" [null , false]\r\n\t", [None, False]),
        ('"\\ud83d\\ude00\\/\\u000a"', "😀/\n"),
        ('"\\\\u0000"', "\\u0000"),
    ],
)
def test_well_formed_text_is_read_exactly(text: str, value: JsonValue) -> None:
    for source in (text, text.encode()):
        read = parse_json(source)
        assert type(read) is type(value)
        assert str(read) == str(value)


def test_nesting_up_to_the_limit_is_read() -> None:
    text = '[{"a":' * 32 + "1" + "}]" * 32
    assert dump_json(parse_json(text)) == text


MALFORMED = [
    b"",
    b" ",
    b"nul",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"[1,]",
    b'{"a":1,}',
    b"{a:1}",
    b"'a'",
    b"01",
    b"+1",
    b".5",
    b"1.",
    b"1e",
    b"-",
    b"0x1",
    b"1_0",
    b"1 2",
    b"[1] x",
    b"// a\n1",
    b'"abc',
    b'"\\x"',
    b'"a\tb"',
    b'"a\x00b"',
    b'"\\u0000"',
    b'{"\\u0000":1}',
    b'"\\ud800"',
    b'"\\udc00"',
    b'"\\ud800\\ud800"',
    b'"\\ud800\\u0041"',
    b'{"\\udfff":1}',
    b'{"a":1,"a":2}',
    b'{"a":1,"\\u0061":2}',
    b'[{"b":{"a":1,"a":1}}]',
    b"\xef\xbb\xbf1",
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b'"\xc0\xaf"',
    "1".encode("utf-16"),
    "1".encode("utf-16-le"),
    b"1e101",
    b"1e-101",
    b"1e131071",
    b"0e131071",
    b"1e99999999999999999999999999",
    b"1e-99999999999999999999999999",
    b"1" * 41,
    b"0." + b"1" * 41,
    b"1" + b"0" * 101,
    b"1." + b"0" * 140,
    b"9" * 10_000,
    b"[" * 65 + b"]" * 65,
    b'{"a":' * 65 + b"1" + b"}" * 65,
    b"[" * 1_000_000,
    b'{"a":' * 1_000_000,
]


@pytest.mark.parametrize("source", MALFORMED, ids=lambda source: f"{source[:30]!r}, {len(source)} bytes")
def test_what_is_not_strict_json_is_refused(source: bytes) -> None:
    with pytest.raises(MalformedJson) as refusal:
        parse_json(source)
    assert refusal.value.code == "MALFORMED_JSON"
    assert (refusal.value.line, refusal.value.column) != (0, 0)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[1] x", 1, 5),
        ("[\n  1,\n  ä]", 3, 3),
        ('{"é": "é", é}', 1, 12),
        ("[\n 1e101]", 2, 2),
        ("\n" + "[" * 65, 2, 65),
    ],
)
def test_a_refusal_says_where_in_characters(text: str, line: int, column: int) -> None:
    with pytest.raises(MalformedJson) as refusal:
        parse_json(text)
    assert (refusal.value.line, refusal.value.column) == (line, column)


def test_text_that_is_not_utf_8_is_refused_where_it_stops_being_so() -> None:
    with pytest.raises(MalformedJson) as refusal:
        parse_json(b'["a",\n "\xc3\xa9\xff"]')
    assert (refusal.value.line, refusal.value.column) == (2, 4)


def test_a_str_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(MalformedJson):
        parse_json('"\ud800"')


def test_a_stored_nul_is_refused_with_its_pointer() -> None:
    with pytest.raises(MalformedJson) as refusal:
        parse_json('{"a":["\\\\u0000","\\u0000"]}')
    assert refusal.value.pointer == "/a/1"


@pytest.mark.parametrize(
    "source", ['{"secret":1,"secret":2}', '["secret" secret]', '"secret\\u0000"', "secret"]
)
def test_a_refusal_never_quotes_the_text(source: str) -> None:
    with pytest.raises(MalformedJson) as refusal:
        parse_json(source)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


@given(json_values())
def test_what_is_dumped_is_read_back_equal(value: JsonValue) -> None:
    read = parse_json(dump_json(value))
    assert canonical_json(read) == canonical_json(value)
    assert dump_json(read) == dump_json(value)


@given(numbers())
def test_a_number_keeps_its_written_digits(number: int | Decimal) -> None:
    assert str(Decimal(dump_json(number))) == str(Decimal(number))


@given(json_values())
def test_any_json_reader_reads_a_dump(value: JsonValue) -> None:
    text = dump_json(value)
    assert dump_json(json.loads(text, parse_float=Decimal)) == text


def test_a_dump_keeps_order_and_leaves_text_unescaped() -> None:
    assert dump_json({"b": [1, Decimal("1.10"), None, True], "a": "ñ😀\n\x1f\u007f"}) == (
        '{"b":[1,1.10,null,true],"a":"ñ😀\\n\\u001f\u007f"}'
    )


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        [1.5],
        {"a": (1,)},
        Decimal("NaN"),
        [Decimal("Infinity")],
        {1: 2},
        "\ud800",
        "\0",
        {"a\0": 1},
        ["\\u0000", "\\\0"],
    ],
)
def test_what_is_not_exact_is_not_dumped(value: JsonValue) -> None:
    with pytest.raises(InexactJson):
        dump_json(value)


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", '"\\u0000', "\n\\u0000"])
def test_what_only_looks_like_an_escape_of_nul_is_dumped_and_read_back(text: str) -> None:
    assert parse_json(dump_json({text: [text]})) == {text: [text]}


def test_a_value_nested_beyond_reach_is_not_dumped() -> None:
    value: JsonValue = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InexactJson):
        dump_json(value)


@given(st.text(alphabet='[]{}":,\\ 019.eE+-aé\n', max_size=150))
@example("[" * 65)
@example('"' + "[" * 70 + '\\"' + "[" * 70 + '"')
@example("1e99")
@example("123456789012345678901234567890123456789012")
def test_whatever_is_read_is_exact_and_what_is_not_read_is_refused_cleanly(text: str) -> None:
    try:
        value = parse_json(text)
    except MalformedJson:
        return
    assert check_exact(value) is value


@given(
    json_values(), st.sampled_from(["1e101", "9" * 41, "[" * 70, "5e-100", '"' + "[" * 70 + '"', '"\\\\"'])
)
def test_the_quick_look_lets_nothing_pass_that_the_tokens_refuse(value: JsonValue, odd: str) -> None:
    text = f"[{dump_json(value)},{odd},{dump_json(value)}]".encode()
    by_tokens = first_excess(text, JsonLimits(digits_max=41))
    if by_tokens is not None:
        assert first_excess(text, DEFAULT_LIMITS) is not None


HOSTILE = {
    "quotes": '"' * 300_001,
    "an unterminated string of escapes": '"\\' * 150_000,
    "escaped quotes": '\\"' * 150_000,
    "brackets": "[" * 300_000,
    "digits": "1" * 300_000,
    "exponents": "1e" * 150_000,
    "unterminated strings": '"a' * 150_001,
    "signs": "-" * 300_000,
    "points": "1." * 150_000,
    "backslashes": "0" * 300_000 + '"' + "\\" * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_scan_passes_each_character_once_at_most(text: str) -> None:
    spans = [token.span() for token in tokens(text)]
    passed = sum(end - start for start, end in spans)
    assert passed <= len(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    with pytest.raises(MalformedJson):
        parse_json(text)


@given(json_values())
def test_tighter_limits_are_kept_too(value: JsonValue) -> None:
    limits = JsonLimits(depth_max=2, digits_max=3, exponent_max=5)
    text = dump_json(value)
    try:
        check_exact(parse_json(text), limits=limits)
        fits = True
    except InexactJson:
        fits = False
    try:
        parse_json(text, limits=limits)
        taken = True
    except MalformedJson:
        taken = False
    assert fits == taken
