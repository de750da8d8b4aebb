from decimal import Decimal
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.canonical import canonical_bytes, canonical_json, sha256_hex
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue, kind_of
from orchestrator_domain.testing.strategies import json_objects, json_values, numbers


# RFC 8785, appendix B: the texts that its sample doubles have, which is how they are typed in.
@pytest.mark.parametrize(
    "text",
    [
        "0",
        "5e-324",
        "-5e-324",
        "1.7976931348623157e+308",
        "-1.7976931348623157e+308",
        "9007199254740992",
        "-9007199254740992",
        "295147905179352830000",
        "9.999999999999997e+22",
        "1e+23",
        "1.0000000000000001e+23",
        "999999999999999700000",
        "999999999999999900000",
        "1e+21",
        "9.999999999999997e-7",
        "0.000001",
        "333333333.3333332",
        "333333333.33333325",
        "333333333.3333333",
        "333333333.3333334",
        "333333333.33333343",
        "-0.0000033333333333333333",
        "1424953923781206.2",
    ],
)
def test_the_numbers_of_rfc_8785_are_laid_out_as_published(text: str) -> None:
    assert canonical_json(Decimal(text)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Decimal("1.0"), "1"),
        (Decimal("1e0"), "1"),
        (Decimal("100e-2"), "1"),
        (Decimal("-0.0"), "0"),
        (Decimal("-0"), "0"),
        (Decimal("0e50"), "0"),
        (Decimal("1e2"), "100"),
        (Decimal("4.50"), "4.5"),
        (Decimal("1e-7"), "1e-7"),
        (Decimal("0.00000012"), "1.2e-7"),
        (Decimal("1e20"), "100000000000000000000"),
        (Decimal("1e21"), "1e+21"),
        (10**20, "100000000000000000000"),
        (10**21 - 1, "999999999999999999999"),
        (10**21, "1e+21"),
        (-(10**21), "-1e+21"),
        (10**100, "1e+100"),
        (10**21 + 1, "1.000000000000000000001e+21"),
        (2**64, "18446744073709551616"),
        (2**64 + 1, "18446744073709551617"),
        (2**68, "295147905179352825856"),
        (Decimal("333333333.33333329"), "333333333.33333329"),
        (Decimal("123456789012345678901234567890.12345"), "1.2345678901234567890123456789012345e+29"),
    ],
)
def test_numbers_keep_their_exact_digits(number: int | Decimal, text: str) -> None:
    assert canonical_json(number) == text


def test_the_sample_object_of_rfc_8785_is_laid_out_as_published_but_for_its_inexact_number() -> None:
    source = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    assert canonical_json(parse_json(source)) == (
        '{"literals":[null,true,false],"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_members_are_sorted_as_in_the_sample_of_rfc_8785() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    text = canonical_json(dict.fromkeys(names))
    assert list(parse_members(text)) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def parse_members(text: str) -> JsonObject:
    value = parse_json(text)
    assert isinstance(value, dict)
    return value


@given(json_objects())
def test_members_are_sorted_by_utf_16_code_units_with_their_values(value: JsonObject) -> None:
    read = parse_members(canonical_json(value))
    assert list(read) == sorted(value, key=lambda name: name.encode("utf-16-be"))
    assert all(are_equal(read[name], member) for name, member in value.items())


@given(json_values())
def test_canonical_text_is_its_own_canonical_text(value: JsonValue) -> None:
    text = canonical_json(value)
    assert canonical_json(parse_json(text)) == text


@given(json_values(), json_values())
def test_equal_values_and_no_others_have_equal_text(left: JsonValue, right: JsonValue) -> None:
    assert (canonical_json(left) == canonical_json(right)) == are_equal(left, right)


@given(st.data(), json_values())
def test_writing_a_value_otherwise_leaves_the_text_alone(data: st.DataObject, value: JsonValue) -> None:
    rewritten = rewrite(data, value)
    assert are_equal(value, rewritten)
    assert canonical_json(rewritten) == canonical_json(value)


@given(numbers(), numbers())
def test_numbers_are_equal_when_their_texts_are(left: int | Decimal, right: int | Decimal) -> None:
    assert (canonical_json(left) == canonical_json(right)) == (Decimal(left) == Decimal(right))
    assert Decimal(canonical_json(left)) == left


def are_equal(left: JsonValue, right: JsonValue) -> bool:
    if kind_of(left) is not kind_of(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(are_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_equal(left[name], right[name]) for name in left)
    return left == right


def rewrite(data: st.DataObject, value: JsonValue) -> JsonValue:
    """Shuffle members and write numbers with other zeros or exponents."""
    if isinstance(value, list):
        return [rewrite(data, item) for item in value]
    if isinstance(value, dict):
        names = data.draw(st.permutations(list(value)))
        return {name: rewrite(data, value[name]) for name in names}
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        sign, digits, exponent = Decimal(value).as_tuple()
        assert isinstance(exponent, int)
        zeros = data.draw(st.integers(min_value=0, max_value=3))
        return Decimal((sign, digits + (0,) * zeros, exponent - zeros))
    return value


def test_the_hash_is_sha_256_of_the_utf_8_text() -> None:
    value: JsonValue = {"b": Decimal("1.0"), "a": "ñ"}
    assert canonical_bytes(value) == '{"a":"ñ","b":1}'.encode()
    assert sha256_hex(value) == sha256('{"a":"ñ","b":1}'.encode()).hexdigest()
    assert sha256_hex([True]) != sha256_hex([1])


@pytest.mark.parametrize(
    "value", [1.0, [float("nan")], Decimal("NaN"), {"a": Decimal("-Infinity")}, {1: 1}, "\ud800", ["\0"]]
)
def test_what_is_not_exact_has_no_canonical_text(value: JsonValue) -> None:
    with pytest.raises(InexactJson):
        canonical_json(value)
