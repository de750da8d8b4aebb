"""Conditional requests (RFC 9110, section 13; RFC 6585, section 3) and Idempotency-Key."""

import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from orchestrator_domain.errors import PreconditionRequired
from orchestrator_domain.identifiers import IdempotencyKey, Revision
from orchestrator_domain.request.acceptance import AnyRevision, Precondition, RevisionIn
from orchestrator_domain.usecases.activate_flow import MustNotExist, TypePrecondition
from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.refusals import IdempotencyKeyRequired, InvalidHeader

_ENTITY_TAG: Final = re.compile(r'(?P<weak>W/)?"(?P<opaque>[!#-~]*)"')
_KEY: Final = re.compile(r"[!-~]{1,200}")
_QUOTED_KEY: Final = re.compile(r'"((?:[!#-\[\]-~]|\\["\\])+)"')
_HINT: Final = 'write each tag between double quotes, as in {header}: "7".'


def entity_tag(revision: Revision) -> str:
    """Return the strong ETag of a revision."""
    return f'"{revision}"'


def required_precondition(headers: HeaderLines) -> Precondition:
    """Return what If-Match asks for; raise PreconditionRequired without it."""
    precondition = optional_precondition(headers)
    if precondition is None:
        raise PreconditionRequired(
            'If-Match is missing: send the ETag of what you have read, as in If-Match: "7".'
        )
    return precondition


def optional_precondition(headers: HeaderLines) -> Precondition | None:
    """Return what If-Match asks for, or None without it; raise InvalidHeader if it isn't well formed.

    Comparison is strong, so weak tags are dropped: they match nothing.
    """
    value = headers.one("If-Match")
    if value is None:
        return None
    if value == "*":
        return AnyRevision()
    return RevisionIn(tags=tuple(_strong_tags("If-Match", value)))


@frozen(kw_only=True)
class NoneMatch:
    """What If-None-Match names; `tags` None is `*`. Comparison is weak (RFC 9110, section 13.1.2)."""

    tags: frozenset[str] | None

    def holds(self, tag: str) -> bool:
        """Say whether a present representation with this ETag is one that the reader has."""
        return self.tags is None or tag.strip('"') in self.tags


def optional_none_match(headers: HeaderLines) -> NoneMatch | None:
    """Return what If-None-Match names, or None without it; raise InvalidHeader if it isn't well formed."""
    value = headers.one("If-None-Match")
    if value is None:
        return None
    if value == "*":
        return NoneMatch(tags=None)
    return NoneMatch(tags=frozenset(opaque for _, opaque in _tags("If-None-Match", value)))


def required_type_precondition(headers: HeaderLines) -> TypePrecondition:
    """Return what the first activation of a type (`If-None-Match: *`) or a later one (If-Match) asks for."""
    none_match = headers.one("If-None-Match")
    match = optional_precondition(headers)
    if none_match is None and match is None:
        raise PreconditionRequired(
            "Send If-Match with the ETag of the request type, or If-None-Match: * to create the type."
        )
    if none_match is None and match is not None:
        return match
    if match is not None:
        raise InvalidHeader("If-Match and If-None-Match exclude each other here: send one of them.")
    if none_match != "*":
        raise InvalidHeader(
            "If-None-Match takes only * here: a type is either created or changed by If-Match."
        )
    return MustNotExist()


def required_idempotency_key(headers: HeaderLines) -> IdempotencyKey:
    """Return the key of the command; `k` and `"k"` are one key.

    Raises IdempotencyKeyRequired without it, InvalidHeader unless it has 1–200 visible ASCII characters.
    """
    value = headers.one("Idempotency-Key")
    if value is None:
        raise IdempotencyKeyRequired(
            "Idempotency-Key is missing: send a key of your own, the same for each repetition of this command."
        )
    key = _unquoted(value) if value.startswith('"') else value
    if key is None or not _KEY.fullmatch(key):
        raise InvalidHeader("Idempotency-Key must be 1 to 200 visible ASCII characters, without spaces.")
    return IdempotencyKey(key)


def _unquoted(value: str) -> str | None:
    quoted = _QUOTED_KEY.fullmatch(value)
    return None if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1])


def _strong_tags(header: str, value: str) -> Iterator[str]:
    return (opaque for is_weak, opaque in _tags(header, value) if not is_weak)


def _tags(header: str, value: str) -> Iterator[tuple[bool, str]]:
    """Yield the tags of a list, each with whether it is weak; empty elements are allowed and ignored (RFC 9110, section 5.6.1.2)."""
    found, position = False, 0
    while position < len(value):
        if value[position] in " \t,":
            position += 1
            continue
        tag = _ENTITY_TAG.match(value, position)
        if tag is None or not _ends_element(value, tag.end()):
            raise InvalidHeader(
                f"{header} is neither * nor a list of entity tags: {_HINT.format(header=header)}"
            )
        found, position = True, tag.end()
        yield tag["weak"] is not None, tag["opaque"]
    if not found:
        raise InvalidHeader(f"{header} is empty: {_HINT.format(header=header)}")


def _ends_element(value: str, position: int) -> bool:
    rest = value[position:].lstrip(" \t")
    return rest == "" or rest.startswith(",")
