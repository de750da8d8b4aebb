"""Schemas as sets of values: what is surely empty, what two have in common, what one takes and another doesn't.

Nothing here is a guess. Where the engine can't tell, or where telling could take long, the answer is that it is not
known. Hand in schemas without faults (`check_schema`).
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final, cast
from urllib.parse import quote

from attrs import frozen
from jsonschema_rs import CanonicalSchema, Draft202012, Registry, canonicalize
from jsonschema_rs.canonical import Satisfiability, UnsatisfiableReason, find_unsatisfiable

from orchestrator_domain.exact_json.schema_engine import (
    ENGINE_FAULTS,
    EXPRESSIONS,
    SHARED_PREFIX,
    new_validator,
)
from orchestrator_domain.exact_json.schema_excerpt import CASES_MAX, Excerpt, Reach, reach_of
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

_EXCERPT: Final = "~excerpt"  # no key of the flow language starts so


def unsatisfiable_places(schema: JsonValue, *, shared: Mapping[str, JsonValue]) -> dict[str, bool]:
    """Return the places of subschemas that surely admit no value, and whether each is a plain `false`."""
    reach = reach_of(Excerpt(schema=schema), shared)
    if reach.is_too_much:
        return {}
    try:
        found = find_unsatisfiable(cast("Any", schema), **_options(reach.shared))
    except ENGINE_FAULTS:
        return {}
    return {place: isinstance(reason, UnsatisfiableReason.Literal) for place, reason in found.items()}


def cases_of(schema: JsonValue, *, shared: Mapping[str, JsonValue]) -> int:
    """Return how many combinations of alternatives reasoning about the schema looks at; none where it isn't tried."""
    reach = reach_of(Excerpt(schema=schema), shared)
    return 0 if reach.is_too_much else reach.cases


def surely_disjoint(excerpts: Sequence[Excerpt], *, shared: Mapping[str, JsonValue]) -> bool:
    """Tell whether surely no value satisfies all of them; False also where that is not known."""
    reached = [(excerpt, reach_of(excerpt, shared)) for excerpt in excerpts]
    if prod(reach.cases for _, reach in reached) > CASES_MAX:
        return False
    joined, resources = _joined(reached)
    try:
        return canonicalize(cast("Any", joined), **_options(resources)).satisfiability() == Satisfiability.NO
    except ENGINE_FAULTS:
        return False


def surely_refuses(excerpt: Excerpt, value: JsonValue, *, shared: Mapping[str, JsonValue]) -> bool:
    """Tell whether the subschema refuses the value; False also where it can't be compiled."""
    joined, resources = _joined([(excerpt, reach_of(excerpt, shared))])
    try:
        return not new_validator(joined, resources.items()).is_valid(value)
    except ENGINE_FAULTS:
        return False


@frozen(kw_only=True)
class AdmittedValues:
    """The values that a schema admits."""

    _canonical: CanonicalSchema
    _cases: int

    def without(self, other: "AdmittedValues") -> JsonValue | None:
        """Return a schema of the values that `other` doesn't admit, False if there are none, None if not known."""
        if self._cases * other._cases > CASES_MAX:  # noqa: SLF001 -- of this very class
            return None
        try:
            rest = self._canonical.subtract(other._canonical)  # noqa: SLF001 -- of this very class
            if rest.satisfiability() == Satisfiability.NO:
                return False
            schema = rest.to_json_schema()
        except ENGINE_FAULTS:
            return None
        if isinstance(schema, dict):
            schema.pop("$schema", None)
        return cast("JsonValue", schema)


def admitted_values(schema: JsonValue, *, shared: Mapping[str, JsonValue]) -> AdmittedValues | None:
    """Return the set of a schema, or None where the engine can't describe it."""
    reach = reach_of(Excerpt(schema=schema), shared)
    if reach.is_too_much:
        return None
    try:
        return AdmittedValues(
            canonical=canonicalize(cast("Any", schema), **_options(reach.shared)), cases=reach.cases
        )
    except ENGINE_FAULTS:
        return None


def _joined(
    excerpts: Iterable[tuple[Excerpt, Reach]],
) -> tuple[JsonObject, dict[str, JsonValue]]:
    resources: dict[str, JsonValue] = {}
    parts: list[JsonValue] = []
    for number, (excerpt, reach) in enumerate(excerpts):
        resources |= reach.shared
        if reach.refers_to_its_own_document:
            name = f"{_EXCERPT}{number}"
            resources[name] = excerpt.schema
            parts.append({"$ref": f"{SHARED_PREFIX}{name}#{quote(str(excerpt.place), safe='/~')}"})
        else:
            parts.append(cast("JsonValue", excerpt.place.resolve(excerpt.schema)))
    return {"allOf": parts}, resources


def _options(shared: Mapping[str, JsonValue]) -> dict[str, Any]:
    resources = [(SHARED_PREFIX + name, resource) for name, resource in shared.items()]
    return {
        "draft": Draft202012,
        "offline": True,
        "pattern_options": EXPRESSIONS,
        "registry": Registry(resources, draft=Draft202012) if resources else None,
        "validate_formats": True,
    }
