"""Reading AUTH_ISSUERS: a JSON array with one object per trusted token issuer."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonValue

type IssuerArguments = Mapping[str, str | float | bool | tuple[str, ...]]
"""What the HTTP adapter's TrustedIssuer is built from, by its own names."""

_TEXTS: Final = {
    "issuer": "issuer",
    "jwksUrl": "jwks_url",
    "alias": "alias",
    "rolesClaim": "roles_claim",
    "scopesClaim": "scopes_claim",
    "attributesClaim": "attributes_claim",
}
_LISTS: Final = {"audiences": "audiences", "algorithms": "algorithms", "types": "types"}
_NUMBERS: Final = {"clockSkewSeconds": "clock_skew_seconds"}
_FLAGS: Final = {"allowPlainHttp": "plain_http_allowed"}
_REQUIRED: Final = ("issuer", "audiences", "algorithms")


@frozen(kw_only=True)
class IssuersRead:
    """What could be read, and a sentence for each fault."""

    issuers: tuple[IssuerArguments, ...]
    faults: tuple[str, ...]


def read_issuers(document: JsonValue) -> IssuersRead:
    """Read the array; an issuer's own rules (algorithms, addresses) are checked when it is built."""
    if not isinstance(document, list) or not document:
        return IssuersRead(
            issuers=(), faults=("AUTH_ISSUERS must be a JSON array with at least one issuer.",)
        )
    faults = [fault for index, entry in enumerate(document) for fault in _faults(index, entry)]
    if faults:
        return IssuersRead(issuers=(), faults=tuple(faults))
    return IssuersRead(issuers=tuple(_arguments(entry) for entry in document), faults=())


def _faults(index: int, entry: JsonValue) -> Iterator[str]:
    place = f"AUTH_ISSUERS/{index}"
    if not isinstance(entry, dict):
        yield f"{place} must be an object."
        return
    for name in _REQUIRED:
        if name not in entry:
            yield f"{place}/{name} is missing."
    for name, value in entry.items():
        expected = _expected(name, value)
        if expected is not None:
            yield f"{place}/{name} {expected}."


def _expected(name: str, value: JsonValue) -> str | None:
    if name in _TEXTS:
        return None if isinstance(value, str) else "must be a string"
    if name in _LISTS:
        return None if _is_list_of_strings(value) else "must be an array of strings"
    if name in _NUMBERS:
        return None if isinstance(value, int | Decimal) and value is not True else "must be a number"
    if name in _FLAGS:
        return None if isinstance(value, bool) else "must be true or false"
    return "is not a member of an issuer"


def _is_list_of_strings(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _arguments(entry: JsonValue) -> IssuerArguments:
    assert isinstance(entry, dict)
    arguments: dict[str, str | float | bool | tuple[str, ...]] = {}
    for name, value in entry.items():
        if name in _TEXTS:
            arguments[_TEXTS[name]] = str(value)
        elif isinstance(value, bool):
            arguments[_FLAGS[name]] = value
        elif isinstance(value, list):
            arguments[_LISTS[name]] = tuple(str(text) for text in value)
        elif isinstance(value, int | Decimal):
            arguments[_NUMBERS[name]] = float(value)
    return arguments
