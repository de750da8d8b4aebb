"""What the engine says about an instance, told without any value of it."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from attrs import evolve, frozen
from jsonschema_rs import ValidationError, ValidationErrorKind

from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue

_Engine = ValidationErrorKind

# Enumerations up to this many options are written out.
_OPTIONS_MAX: Final = 8


@frozen(kw_only=True)
class SchemaViolation:
    """A place that breaks a schema: the keyword and a sentence made of the schema's facts, never of the instance's."""

    pointer: str
    keyword: str
    message: str


def violation_of(error: ValidationError, instance: JsonValue) -> SchemaViolation:
    kind = error.kind
    return SchemaViolation(
        pointer=str(_place(error.instance_path, instance)),
        keyword=_keyword(kind, error.schema_path),
        message=_message(kind),
    )


def named_violations(error: ValidationError, instance: JsonValue) -> Iterator[SchemaViolation]:
    """Tell an error with the names of members that aren't allowed, and inside the alternative that was meant.

    Only for what is no personal data, such as the configuration of a deployment. The alternative that was meant is
    the one whose constants all hold.
    """
    kind = error.kind
    if isinstance(kind, _Engine.OneOfNotValid) and len(meant := _alternatives_meant(kind.context)) == 1:
        for deeper in meant[0]:
            yield from named_violations(deeper, instance)
        return
    told = violation_of(error, instance)
    if isinstance(kind, _Engine.AdditionalProperties):
        names = ", ".join(canonical_json(name) for name in kind.unexpected)
        told = evolve(told, message=f"The schema doesn't allow {names} here.")
    yield told


def _alternatives_meant(alternatives: Sequence[Sequence[ValidationError]]) -> list[Sequence[ValidationError]]:
    return [
        errors for errors in alternatives if not any(isinstance(one.kind, _Engine.Constant) for one in errors)
    ]


def _place(path: list[str | int], instance: JsonValue) -> Pointer:
    """Follow the engine's path through the instance as far as it is certain.

    The engine tells a member named `01` as the integer 1 and leaves a member with the empty name out. Where that
    could mean two places, the object around both is as near as can be told.
    """
    pointer, here = Pointer.root(), instance
    for step in path:
        if isinstance(here, list) and isinstance(step, int):
            pointer, here = pointer.child(step), here[step]
        elif isinstance(here, dict) and len(names := _names_meant(step, here)) == 1:
            pointer, here = pointer.child(names[0]), here[names[0]]
        else:
            break
    return pointer


def _names_meant(step: str | int, members: dict[str, JsonValue]) -> list[str]:
    if "" in members:
        return []
    if isinstance(step, str):
        return [step] if step in members else []
    spelling = re.compile(rf"\+?0*{step}")
    return [name for name in members if spelling.fullmatch(name)]


def _keyword(kind: ValidationErrorKind, schema_path: list[str | int]) -> str:
    # The engine files several keywords under these two.
    if isinstance(kind, (_Engine.Contains, _Engine.Required)) and schema_path:
        return str(schema_path[-1])
    return kind.name


def _message(kind: ValidationErrorKind) -> str:  # noqa: C901, PLR0912 - one case per kind
    match kind:
        case _Engine.Required():
            return f"The member {canonical_json(kind.property)} is missing."
        case _Engine.AdditionalProperties() | _Engine.UnevaluatedProperties():
            return f"The object has {_count(len(kind.unexpected), 'member')} that the schema doesn't allow."
        case _Engine.AdditionalItems():
            return f"The array has more than {_count(kind.limit, 'element')}."
        case _Engine.UnevaluatedItems():
            return f"The array has {_count(len(kind.unexpected), 'element')} that the schema doesn't allow."
        case _Engine.Type():
            return f"The value is not of type {' or '.join(sorted(kind.types))}."
        case _Engine.Enum():
            return _enumeration(kind.options)
        case _Engine.Constant():
            return "The value is not the one that the schema requires."
        case _Engine.Minimum():
            return f"The number is less than {_number(kind.limit)}."
        case _Engine.Maximum():
            return f"The number is greater than {_number(kind.limit)}."
        case _Engine.ExclusiveMinimum():
            return f"The number is not greater than {_number(kind.limit)}."
        case _Engine.ExclusiveMaximum():
            return f"The number is not less than {_number(kind.limit)}."
        case _Engine.MultipleOf():
            return f"The number is not a multiple of {_number(kind.multiple_of)}."
        case _Engine.MinLength():
            return f"The string is shorter than {_count(kind.limit, 'character')}."
        case _Engine.MaxLength():
            return f"The string is longer than {_count(kind.limit, 'character')}."
        case _Engine.MinItems():
            return f"The array has fewer than {_count(kind.limit, 'element')}."
        case _Engine.MaxItems():
            return f"The array has more than {_count(kind.limit, 'element')}."
        case _Engine.MinProperties():
            return f"The object has fewer than {_count(kind.limit, 'member')}."
        case _Engine.MaxProperties():
            return f"The object has more than {_count(kind.limit, 'member')}."
        case _Engine.Pattern():
            return f"The string doesn't match the pattern {canonical_json(kind.pattern)}."
        case _Engine.Format():
            return f"The string is not in the format {canonical_json(kind.format)}."
        case _Engine.PropertyNames():
            return "The object has a member whose name the schema doesn't allow."
        case _:
            return _FIXED.get(type(kind), "The value breaks a rule of the schema.")


_FIXED: Final[dict[type[ValidationErrorKind], str]] = {
    _Engine.AnyOf: "The value fits none of the alternatives.",
    _Engine.Contains: "The array doesn't hold the required number of elements of the kind the schema asks for.",
    _Engine.FalseSchema: "The schema allows no value here.",
    _Engine.Not: "The value fits a schema that it must not fit.",
    _Engine.OneOfMultipleValid: "The value fits more than one of the alternatives, of which exactly one must fit.",
    _Engine.OneOfNotValid: "The value fits none of the alternatives, of which exactly one must fit.",
    _Engine.UniqueItems: "The array holds an element twice.",
}


def _enumeration(options: Sequence[object]) -> str:
    texts = [_option(option) for option in options]
    if len(texts) > _OPTIONS_MAX or not all(texts):
        return f"The value is none of the {_count(len(options), 'value')} that the schema lists."
    return f"The value is none of {', '.join(texts)}."


def _option(option: object) -> str:
    if isinstance(option, (int, float, Decimal)) and not isinstance(option, bool):
        return _number(option)
    return canonical_json(option) if option is None or isinstance(option, (bool, str)) else ""


def _number(number: object) -> str:
    """Write a bound of the schema, which the engine gives as a float where that float's shortest text is exact."""
    if isinstance(number, float):
        return canonical_json(Decimal(repr(number)))
    return canonical_json(number) if isinstance(number, (int, Decimal)) else "the schema's bound"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
