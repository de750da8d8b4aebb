"""A line that fits the shape of another is read as strictly by its places as by its whole."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.line_shape import line_shape
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.exact_json.value import ABSENT, JsonObject, JsonValue

SCORE = Pointer.parse("/a/score")
NAME = Pointer.parse("/a/name")
ELSEWHERE = Pointer.parse("/a/score/deeper")
LINE = '{"a":{"score":12.50,"name":"Ana"},"tags":["x",1],"on":true}'
PIECES = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "1.5",
    "e9",
    "-",
    "\n",
    " ",
    "null",
    "true",
    "\x00",
    "ñ",
]


def read(line: str, text: str, *paths: Pointer) -> list[JsonValue | object] | None:
    """Return what is read by the shape of `line` at the paths of `text`; None where it doesn't fit."""
    shape = line_shape(line, paths)
    assert shape is not None
    texts = shape.of_line(text)
    if texts is None:
        return None
    (values,) = shape.values([texts])
    return list(values)


def leaves(value: JsonValue, place: Pointer) -> list[Pointer]:
    if not isinstance(value, dict):
        return [] if isinstance(value, list) else [place]
    return [leaf for name, member in value.items() for leaf in leaves(member, place.child(name))]


def plain_objects() -> st.SearchStrategy[JsonObject]:
    """Draw objects that need no closer look: no escape, no exponent, no long number."""
    text = st.text(
        st.characters(codec="utf-8", exclude_characters='"\\', exclude_categories=["C"]), max_size=5
    )
    decimals = st.decimals(-1000, 1000, places=3, allow_nan=False).filter(lambda each: "E" not in str(each))
    scalars = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | decimals | text
    values = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(text, values, max_size=4)


@given(plain_objects(), st.data())
def test_a_line_fits_its_own_shape_and_its_values_are_what_strict_reading_gives(
    value: JsonObject, data: st.DataObject
) -> None:
    line = dump_json(value)
    some = leaves(value, Pointer.root())
    paths = data.draw(st.lists(st.sampled_from(some), max_size=3, unique=True)) if some else []
    alone = parse_json(line)
    found = read(line, line, *paths)
    assert found is not None
    assert list(map(repr, found)) == [repr(path.resolve(alone)) for path in paths]


@given(st.lists(st.tuples(st.integers(0, len(LINE)), st.integers(0, 3), st.sampled_from(PIECES)), max_size=3))
@example([(0, 0, " ")])
@example([(14, 5, "-0")])
@example([(14, 5, '"x"')])
@example([(41, 7, "[]")])
@example([(1, 0, '"a":1,')])
def test_what_fits_a_shape_is_what_strict_reading_takes_and_has_its_values(
    edits: list[tuple[int, int, str]],
) -> None:
    text = LINE
    for at, length, piece in edits:
        text = text[:at] + piece + text[at + length :]
    found = read(LINE, text, SCORE, NAME, ELSEWHERE)
    if found is not None:
        value = parse_json(text)
        assert list(map(repr, found)) == [repr(path.resolve(value)) for path in (SCORE, NAME, ELSEWHERE)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("7", 7),
        ("-0", 0),
        ("-0.0", Decimal("-0.0")),
        ("1.10", Decimal("1.10")),
        ('"1.10"', "1.10"),
        ('""', ""),
        ('"ñ {[,:]}"', "ñ {[,:]}"),
        ("true", True),
        ("false", False),
        ("null", None),
    ],
)
def test_a_scalar_of_any_kind_may_stand_where_one_stood(written: str, value: JsonValue) -> None:
    found = read(LINE, LINE.replace("12.50", written), SCORE)
    assert found is not None
    assert (type(found[0]), repr(found[0])) == (type(value), repr(value))


@pytest.mark.parametrize(
    "written",
    [
        "1e2",
        "01",
        "+1",
        ".5",
        "1.",
        "NaN",
        "tru",
        '"a\\n"',
        '"\x01"',
        "{}",
        "[]",
        "1,2",
        "9" * 19,
        "1." + "0" * 18,
    ],
)
def test_what_needs_a_closer_look_fits_no_shape(written: str) -> None:
    assert read(LINE, LINE.replace("12.50", written), SCORE) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{"name":"Ana","score":12.50},"tags":[],"on":true}',
        '{"a":{"score":1,"name":"Ana"},"tags":[],"on":true,"more":1}',
        '{"a": {"score":1,"name":"Ana"},"tags":[],"on":true}',
        LINE + LINE,
        LINE + "\n",
    ],
)
def test_members_order_and_spaces_belong_to_a_shape(text: str) -> None:
    assert read(LINE, text, SCORE) is None


@pytest.mark.parametrize("tags", ["[]", "[ ]", '["y"]', "[1 , 2.5,\tnull ]"])
def test_an_array_of_scalars_stands_for_every_other(tags: str) -> None:
    assert read(LINE, LINE.replace('["x",1]', tags), SCORE) == [Decimal("12.50")]


@pytest.mark.parametrize("path", ["", "/a", "/tags", "/tags/0"])
def test_what_is_no_scalar_or_lies_in_an_array_has_no_shape(path: str) -> None:
    assert line_shape(LINE, [Pointer.parse(path)]) is None


def test_what_a_shape_does_not_have_is_absent() -> None:
    assert read(LINE, LINE, ELSEWHERE, SCORE, Pointer.parse("/b")) == [ABSENT, Decimal("12.50"), ABSENT]
    assert read(LINE, LINE) == []


def test_a_long_line_has_no_shape() -> None:
    assert line_shape(f'{{"a":"{"x" * 5000}"}}', [SCORE]) is None
