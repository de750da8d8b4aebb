"""Findings in the order in which an author meets them."""

from collections.abc import Iterable, Sequence
from typing import Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.findings import Finding, Severity

_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


def in_document_order(document: JsonValue, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings each once, errors first, those of one severity as their places follow in the document."""
    once = {(finding.code, finding.pointer, finding.message): finding for finding in findings}
    positions = _Positions(document)
    return tuple(sorted(once.values(), key=lambda each: (_RANKS[each.severity], positions.of(each.pointer))))


class _Positions:
    """Number the members of each object once, for look-up."""

    def __init__(self, document: JsonValue) -> None:
        self._document = document
        self._numbered: dict[int, dict[str, int]] = {}

    def of(self, pointer: str) -> Sequence[int]:
        position: list[int] = []
        value: JsonValue = self._document
        for token in Pointer.parse(pointer).tokens:
            if isinstance(value, dict) and token in value:
                position.append(self._numbers(value)[token])
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                position.append(int(token))
                value = value[int(token)]
            else:
                break
        return position

    def _numbers(self, value: JsonObject) -> dict[str, int]:
        if id(value) not in self._numbered:
            self._numbered[id(value)] = {name: number for number, name in enumerate(value)}
        return self._numbered[id(value)]
