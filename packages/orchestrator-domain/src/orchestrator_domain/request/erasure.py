"""What of a request can be erased once it has ended, by which rules, and the fact that says so."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final, cast

from attrs import field, frozen

from orchestrator_domain.audit import SYSTEM_SUBJECT, AuditEntry, AuditFact, AuditKind
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import AuditEntryId, FlowId


class PersonalData(StrEnum):
    """The parts of a request that can be erased apart from one another."""

    HISTORY = "HISTORY"
    REQUEST_DATA = "REQUEST_DATA"
    INITIAL_DATA = "INITIAL_DATA"
    EVENT_DATA = "EVENT_DATA"
    RESULTS = "RESULTS"
    DOCUMENTS = "DOCUMENTS"
    EVIDENCE = "EVIDENCE"


EVERYTHING: Final = frozenset(PersonalData)
REPLAYED: Final = frozenset(
    {PersonalData.REQUEST_DATA, PersonalData.INITIAL_DATA, PersonalData.EVENT_DATA, PersonalData.RESULTS}
)
"""Without any one of these the past of a request can't be gone through again."""


@frozen(kw_only=True)
class RetentionRule:
    """Erase parts of the requests that ended that long ago; an empty selection leaves nothing out.

    Unless `open_requests` is set only requests in an end state are meant. Their age counts from the last change of the
    request itself, which for one that has ended is its end. Requests that an execution blocks are never meant.
    """

    name: str
    after_days: int
    erase: frozenset[PersonalData]
    request_types: frozenset[str] = field(default=frozenset())
    flows: frozenset[str] = field(default=frozenset())
    states: frozenset[str] = field(default=frozenset())
    scopes: frozenset[str] = field(default=frozenset())
    open_requests: bool = False


@frozen(kw_only=True)
class Erasure:
    """Why something is erased, as the history keeps it: a rule's name, or the reference of a demand."""

    run: str
    rule: str | None = None
    reference: str | None = None


def read_policy(document: JsonValue) -> tuple[RetentionRule, ...]:
    """Read a policy; raise InvalidInput with each place that isn't one."""
    violations = [(each.pointer, each.message) for each in _POLICY.violations(document)]
    violations += [(pointer, "Another rule has this name already.") for pointer in _names_again(document)]
    if violations:
        raise InvalidInput(
            "The file is no retention policy.", pointer=violations[0][0], violations=violations
        )
    return tuple(map(_rule, cast("dict[str, Any]", document)["rules"]))


def erasure_fact(
    parts: Iterable[PersonalData], why: Erasure, *, flow_id: FlowId, entry_id: AuditEntryId, salt: str
) -> AuditFact:
    """Return the fact of an erasure, which names parts and reasons and nothing that was in them."""
    return AuditFact(
        id=entry_id,
        kind=AuditKind.PERSONAL_DATA_ERASED,
        actor=SYSTEM_SUBJECT,
        flow_id=flow_id,
        detail={
            "erased": [*sorted(part.value for part in parts)],
            "run": why.run,
            "rule": why.rule,
            "reference": why.reference,
        },
        salt=salt,
    )


def parts_erased(entries: Iterable[AuditEntry]) -> frozenset[PersonalData]:
    """Return what a history says was erased at some time."""
    return frozenset(
        PersonalData(part)
        for entry in entries
        if entry.kind is AuditKind.PERSONAL_DATA_ERASED and entry.detail is not None
        for part in _texts(entry.detail.get("erased"))
        if part in EVERYTHING
    )


def _texts(value: JsonValue) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _names_again(document: JsonValue) -> Iterator[str]:
    """Give the place of each name that an earlier rule has, whatever else is wrong with the document."""
    rules = document.get("rules") if isinstance(document, dict) else None
    names: set[str] = set()
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        name = rule.get("name") if isinstance(rule, dict) else None
        if isinstance(name, str):
            if name in names:
                yield f"/rules/{index}/name"
            names.add(name)


def _rule(entry: dict[str, Any]) -> RetentionRule:
    return RetentionRule(
        name=entry["name"],
        after_days=int(entry["afterDays"]),
        erase=frozenset(map(PersonalData, entry["erase"])),
        request_types=frozenset(entry.get("requestTypes", ())),
        flows=frozenset(entry.get("flows", ())),
        states=frozenset(entry.get("states", ())),
        scopes=frozenset(entry.get("scopes", ())),
        open_requests=entry.get("openRequests", False),
    )


def _selection() -> JsonObject:
    return {
        "type": "array",
        "minItems": 1,
        "maxItems": 1000,
        "uniqueItems": True,
        "items": {"type": "string", "minLength": 1, "maxLength": 100},
    }


_RULE_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "required": ["name", "afterDays", "erase"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]{0,99}$"},
        "afterDays": {"type": "integer", "minimum": 0, "maximum": 36500},
        "erase": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"enum": [part.value for part in PersonalData]},
        },
        "requestTypes": _selection(),
        "flows": _selection(),
        "states": _selection(),
        "scopes": _selection(),
        "openRequests": {"type": "boolean"},
    },
}
_POLICY: Final = compile_schema(
    {
        "type": "object",
        "required": ["rules"],
        "additionalProperties": False,
        "properties": {"rules": {"type": "array", "minItems": 1, "maxItems": 200, "items": _RULE_SCHEMA}},
    }
)
