"""The one way in which validators are made: draft 2020-12, offline, formats asserted, linear regular expressions."""

from collections.abc import Iterable
from typing import Final, cast

from jsonschema_rs import Draft202012, Draft202012Validator, ReferencingError, RegexOptions, Registry

from orchestrator_domain.exact_json.value import JsonObject, JsonValue

SHARED_PREFIX: Final = "urn:flow:schema:"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# What the engine raises about a schema that it can't take.
ENGINE_FAULTS: Final = (ValueError, TypeError, ReferencingError)

# Bytes of a compiled expression and of its cache; `((a{100}){100}){100}` needs more and is refused.
EXPRESSIONS: Final = RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)


def new_validator(schema: JsonValue, shared: Iterable[tuple[str, JsonValue]] = ()) -> Draft202012Validator:
    """Compile a schema that may refer to the shared ones by name; raises one of ENGINE_FAULTS."""
    resources = [(SHARED_PREFIX + name, resource) for name, resource in shared]
    return Draft202012Validator(
        cast("JsonObject | bool", schema),
        ignore_unknown_formats=False,
        offline=True,
        pattern_options=EXPRESSIONS,
        registry=Registry(resources, draft=Draft202012) if resources else None,
        validate_formats=True,
    )


META_SCHEMA: Final = Draft202012Validator({"$ref": DIALECT}, offline=True)


def is_known_format(name: str) -> bool:
    return _compiles({"format": name})


def is_linear_pattern(pattern: str) -> bool:
    """Tell whether the linear engine takes the expression: no look-around, no back-reference, bounded size."""
    return _compiles({"pattern": pattern})


def _compiles(schema: JsonObject) -> bool:
    try:
        new_validator(schema)
    except ENGINE_FAULTS:
        return False
    return True
