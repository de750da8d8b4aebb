from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.limits import number_fault
from orchestrator_domain.exact_json.value import (
    ABSENT,
    DEFAULT_LIMITS,
    InexactJson,
    JsonLimits,
    JsonValue,
    Kind,
    check_exact,
    is_nested_deeper,
    kind_of,
)
from orchestrator_domain.testing.strategies import json_values, numbers


class Text(str):
    __slots__ = ()


class Number(int):
    pass


def nested(levels: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (ABSENT, Kind.ABSENT),
        (None, Kind.NULL),
        (True, Kind.BOOLEAN),
        (1, Kind.NUMBER),
        (Decimal("1.0"), Kind.NUMBER),
        ("1", Kind.STRING),
        ([], Kind.ARRAY),
        ({}, Kind.OBJECT),
    ],
)
def test_each_value_has_one_kind_and_true_is_no_number(value: JsonValue, kind: Kind) -> None:
    assert kind_of(value) is kind


@pytest.mark.parametrize("value", [1.0, (), Number(1), Text("text"), b"bytes", {1}])
def test_what_is_not_exact_json_has_no_kind(value: JsonValue) -> None:
    with pytest.raises(InexactJson):
        kind_of(value)


def test_absence_names_itself() -> None:
    assert repr(ABSENT) == "ABSENT"


@given(json_values())
def test_exact_values_pass_as_they_are(value: JsonValue) -> None:
    assert check_exact(value) is value


@pytest.mark.parametrize(
    "inexact",
    [
        1.0,
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        (),
        b"bytes",
        Number(1),
        Text("text"),
        "a\0b",
        "\ud800",
        {"a\0": 1},
        {"\udc00": 1},
        {1: 2},
        {Text("a"): 1},
        10**101,
        -(10**101),
        Decimal("1e101"),
        Decimal("1e-101"),
        Decimal("1e131071"),
        Decimal("0e-101"),
        int("1" * 41),
        Decimal("0." + "1" * 41),
        Decimal("1." + "0" * 140),
    ],
)
def test_inexact_values_are_refused_with_their_place(inexact: object) -> None:
    with pytest.raises(InexactJson) as refusal:
        check_exact({"a/b": [None, inexact]})
    assert refusal.value.pointer == "/a~1b/1"
    assert refusal.value.code == "MALFORMED_JSON"


@pytest.mark.parametrize(
    "number",
    [
        10**100,
        -(10**100),
        Decimal("1e100"),
        Decimal("1e-100"),
        int("1" * 40),
        int("1" * 40 + "0" * 60),
        Decimal("0e-100"),
    ],
)
def test_numbers_at_the_limits_pass(number: int | Decimal) -> None:
    assert check_exact(number) is number


@given(numbers(), st.integers(min_value=-120, max_value=120))
def test_digits_and_exponent_are_bounded_by_value_however_a_number_is_written(
    number: int | Decimal, shift: int
) -> None:
    _, digits, exponent = Decimal(number).as_tuple()
    if not any(digits) or not isinstance(exponent, int):
        return
    coefficient = "".join(map(str, digits))
    as_it_is = number_fault(coefficient, exponent + shift, DEFAULT_LIMITS)
    with_zeros = number_fault("000" + coefficient + "0", exponent + shift - 1, DEFAULT_LIMITS)
    assert as_it_is == with_zeros or exponent + shift - 1 < -139


def test_an_integer_too_long_to_be_written_is_refused() -> None:
    with pytest.raises(InexactJson):
        check_exact(10**100_000)


def test_a_refusal_never_holds_the_value() -> None:
    with pytest.raises(InexactJson) as refusal:
        check_exact(["secret\0"])
    assert "secret" not in str(refusal.value)


def test_nesting_is_bounded_by_the_limit() -> None:
    assert check_exact(nested(64)) == nested(64)
    with pytest.raises(InexactJson):
        check_exact(nested(65))
    with pytest.raises(InexactJson):
        check_exact(nested(3), limits=JsonLimits(depth_max=2))


def test_a_hundred_thousand_levels_and_a_cycle_are_refused_without_harm() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    for value in (nested(100_000), cycle):
        with pytest.raises(InexactJson):
            check_exact(value)


@given(st.integers(min_value=1, max_value=100), st.integers(min_value=0, max_value=100))
def test_depth_counts_the_containers_around_a_value(levels: int, depth_max: int) -> None:
    assert is_nested_deeper(nested(levels), depth_max) == (levels > depth_max)


def test_a_scalar_has_no_depth() -> None:
    assert not is_nested_deeper("a", 0)
