"""One linear look at JSON text before it is parsed: how deep it nests and how large its numbers are.

The text needn't be well formed. Up to the first place where a parser would stop, both looks below see what it sees.
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from attrs import frozen

from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS, JsonLimits, exponent_fault, number_fault

# Possessive quantifiers: what was passed is never tried again, so an unterminated string costs one pass.
_TOKEN: Final = re.compile(
    r"""
      " (?: [^"\\]++ | \\. )*+ "?+
    | [\[\]{}]
    | -? (?P<whole>[0-9]++) (?: \.(?P<fraction>[0-9]++) )?+ (?: [eE] (?P<power>[+-]?+[0-9]++) )?+
    """,
    re.VERBOSE | re.DOTALL,
)
_POWER_DIGITS_MAX: Final = 7


@frozen(kw_only=True)
class Excess:
    """A limit that the text breaks, and where, in characters from its start."""

    offset: int
    message: str


def first_excess(source: bytes, limits: JsonLimits) -> Excess | None:
    """Find the first place where UTF-8 text nests too deep or holds a number beyond the limits."""
    if limits == DEFAULT_LIMITS and _is_surely_within(source):
        return None
    depth = 0
    text = source.decode()
    for token in tokens(text):
        opening = text[token.start()]
        if opening in "[{":
            depth += 1
        elif opening in "]}":
            depth -= 1
        if depth > limits.depth_max:
            message = f"The value is nested deeper than {limits.depth_max} levels."
            return Excess(offset=token.start(), message=message)
        if token["whole"] and (fault := _literal_fault(token, limits)):
            return Excess(offset=token.start(), message=fault)
    return None


def tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield strings, brackets and numbers, each character in one of them at most."""
    return _TOKEN.finditer(text)


def _literal_fault(token: re.Match[str], limits: JsonLimits) -> str | None:
    whole, fraction, power = token["whole"], token["fraction"] or "", token["power"] or ""
    power_digits = power.lstrip("+-0")
    if len(power_digits) > _POWER_DIGITS_MAX:
        return exponent_fault(limits)
    exponent = int(power_digits or "0") * (-1 if power.startswith("-") else 1)
    return number_fault(whole + fraction, exponent - len(fraction), limits)


# The quick look: a text in which no number can be too large, found with a few passes in C. It may be wrong in one
# direction only; what it doubts (a long number, a two-digit exponent, the like inside a string) the tokens decide.

_SHAPE: Final = bytes.maketrans(b"0123456789.eE+-", b"00000000000ee--")
_TOO_LONG: Final = b"0" * (DEFAULT_LIMITS.digits_max + 1)
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"[]{}"))
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _is_surely_within(source: bytes) -> bool:
    return numbers_are_surely_within(source) and _depth_at_most(source) <= DEFAULT_LIMITS.depth_max


def numbers_are_surely_within(source: bytes) -> bool:
    """Say that no number in the text can break the default limits; False leaves it open."""
    shape = source.translate(_SHAPE)
    if _TOO_LONG in shape:
        return False
    return b"0e" not in shape or not (b"0e00" in shape or b"0e-00" in shape)


def _depth_at_most(source: bytes) -> int:
    openings = source.count(b"[") + source.count(b"{")
    if openings <= DEFAULT_LIMITS.depth_max:
        return openings
    unescaped = source.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside_strings = b"".join(unescaped.split(b'"')[::2])
    brackets = outside_strings.translate(None, _NO_BRACKET)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
