"""Canonical JSON (RFC 8785) with exact numbers, and the hash that is taken of it."""

from decimal import Decimal
from hashlib import sha256

from orchestrator_domain.exact_json.layout import json_writer
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue

# ECMAScript writes numbers out in full below this power of ten, and down to 1e-6 (Number::toString).
_PLAIN_DIGITS_MAX = 21
_PLAIN_BELOW = 10**_PLAIN_DIGITS_MAX
_PLAIN_ZEROS_MAX = 6


def sha256_hex(value: JsonValue) -> str:
    """Hash the canonical text, in UTF-8, as lower-case hex."""
    return sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: JsonValue) -> bytes:
    return canonical_json(value).encode()


def canonical_json(value: JsonValue) -> str:
    """Write equal values as equal text, and different ones as different text.

    RFC 8785: members in the order of their UTF-16 code units, no white space. Its number layout (ECMAScript's) is
    applied to the exact decimal digits, so that 1, 1.0 and 1e0 are one text and 2**64 and 2**64 + 1 are two.
    Raises InexactJson for what isn't exact JSON.
    """
    return _write(value)


def _names(value: JsonObject) -> list[str]:
    names = sorted(value)
    # Code points and UTF-16 code units sort alike but for what lies beyond the basic plane.
    if not "".join(names).isascii():
        names.sort(key=_utf_16)
    return names


def _utf_16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _integer(number: int) -> str:
    if -_PLAIN_BELOW < number < _PLAIN_BELOW:
        return str(number)
    return _decimal(Decimal(number))


def _decimal(number: Decimal) -> str:
    text = str(number)
    if len(text) <= _PLAIN_DIGITS_MAX and "E" not in text and "." in text:
        plain = text.rstrip("0").rstrip(".")
        return "0" if plain == "-0" else plain
    return _laid_out(number)


def _laid_out(number: Decimal) -> str:
    negative, coefficient, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        raise InexactJson("A number is infinite or no number at all.")
    written = "".join(map(str, coefficient)).lstrip("0")
    if not written:
        return "0"
    # The value is 0.DIGITS × 10**point.
    text = _layout(written.rstrip("0"), exponent + len(written))
    return "-" + text if negative else text


def _layout(digits: str, point: int) -> str:
    if len(digits) <= point <= _PLAIN_DIGITS_MAX:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN_DIGITS_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if -_PLAIN_ZEROS_MAX < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


_write = json_writer(integer=_integer, decimal=_decimal, names=_names)
