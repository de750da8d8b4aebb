"""Hypothesis strategies for exact JSON: everything that may pass a boundary, with the awkward cases in reach."""

from decimal import Decimal

from hypothesis import strategies as st

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import DEFAULT_LIMITS, JsonObject, JsonValue

_DIGITS_MAX = DEFAULT_LIMITS.digits_max
_EXPONENT_MAX = DEFAULT_LIMITS.exponent_max


def json_values() -> st.SearchStrategy[JsonValue]:
    """Draw any value within the limits, with numbers of any size and text of any script."""
    return st.recursive(_scalars(), _containers, max_leaves=20)


def json_objects() -> st.SearchStrategy[JsonObject]:
    return st.dictionaries(_names(), json_values(), max_size=5)


def numbers() -> st.SearchStrategy[int | Decimal]:
    """Draw integers and decimals up to the limits in digits and exponent, zeros of both signs among them."""
    return st.one_of(
        st.integers(min_value=-100, max_value=100),
        st.integers(min_value=-(10**_DIGITS_MAX) + 1, max_value=10**_DIGITS_MAX - 1),
        st.builds(_power, st.integers(min_value=0, max_value=_EXPONENT_MAX)),
        st.sampled_from([Decimal("0.0"), Decimal("-0.0"), Decimal("1.0"), Decimal("1e2"), Decimal("0.10")]),
        _decimals(),
    )


def pointers() -> st.SearchStrategy[Pointer]:
    """Draw pointers whose tokens hold what must be escaped, indices and what only looks like one."""
    tokens = st.one_of(_names(), st.sampled_from(["", "~", "/", "~1", "~01", "-", "0", "00", "1", "10"]))
    return st.builds(lambda drawn: Pointer(tokens=tuple(drawn)), st.lists(tokens, max_size=6))


def _scalars() -> st.SearchStrategy[JsonValue]:
    return st.one_of(st.none(), st.booleans(), numbers(), _texts())


def _containers(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    return st.one_of(st.lists(inner, max_size=5), st.dictionaries(_names(), inner, max_size=5))


def _texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def _names() -> st.SearchStrategy[str]:
    # U+FB33 and an emoji sort one way by code point and the other way by UTF-16 code unit.
    awkward = st.sampled_from(
        ["", "a", "A", "é", "\ufb33", "\U0001f600", 'quo"te', "back\\slash", "a/b", "~"]
    )
    return st.one_of(awkward, _texts())


def _power(exponent: int) -> int:
    # mypy knows of int ** int only that it may be a float.
    return int(10**exponent)


@st.composite
def _decimals(draw: st.DrawFn) -> Decimal:
    coefficient = draw(st.integers(min_value=1, max_value=10**_DIGITS_MAX - 1))
    scientific = draw(st.integers(min_value=-_EXPONENT_MAX, max_value=_EXPONENT_MAX))
    digits = tuple(int(digit) for digit in str(coefficient))
    sign = draw(st.integers(min_value=0, max_value=1))
    return Decimal((sign, digits, scientific - len(digits) + 1))
