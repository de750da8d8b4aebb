"""JSON Schema, draft 2020-12: check a schema, compile it, hold values against it."""

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from attrs import frozen
from jsonschema_rs import Draft202012Validator

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.schema_engine import ENGINE_FAULTS, new_validator
from orchestrator_domain.exact_json.schema_fault import (
    NOTHING_SHARED,
    SchemaFault,
    SchemaFaultCode,
    check_schema,
    hinders_compiling,
)
from orchestrator_domain.exact_json.schema_violation import SchemaViolation, named_violations, violation_of
from orchestrator_domain.exact_json.value import DEFAULT_LIMITS, InexactJson, JsonValue, is_nested_deeper

__all__ = [
    "CompiledSchema",
    "InvalidSchema",
    "SchemaFault",
    "SchemaFaultCode",
    "SchemaViolation",
    "check_schema",
    "compile_schema",
]


class InvalidSchema(OrchestratorError):
    """The schema can't be compiled; `pointer` says where, and `check_schema` lists every fault."""

    code: ClassVar[str] = "INVALID_SCHEMA"


def compile_schema(
    schema: JsonValue, *, shared: Mapping[str, JsonValue] = NOTHING_SHARED
) -> "CompiledSchema":
    """Compile a schema whose references to `urn:flow:schema:<name>` mean `shared[name]`.

    Nothing is fetched, formats are asserted, expressions take linear time. Raises InvalidSchema.
    """
    _refuse_faulty(schema, shared)
    for resource in shared.values():
        _refuse_faulty(resource, shared)
    try:
        return CompiledSchema(validator=new_validator(schema, shared.items()))
    except ENGINE_FAULTS:
        raise InvalidSchema("The schema can't be compiled: check its references.") from None


def _refuse_faulty(schema: JsonValue, shared: Mapping[str, JsonValue]) -> None:
    fault = next(filter(hinders_compiling, check_schema(schema, shared=shared)), None)
    if fault is not None:
        raise InvalidSchema(fault.message, pointer=fault.pointer)


@frozen(kw_only=True)
class CompiledSchema:
    """A schema made ready; immutable and safe to share."""

    _validator: Draft202012Validator

    def accepts(self, value: JsonValue) -> bool:
        """Tell whether a value within the depth limit satisfies the schema. Raises InexactJson."""
        _refuse_deep(value)
        try:
            return self._validator.is_valid(value)
        except ENGINE_FAULTS:
            raise _not_exact() from None

    def violations(self, value: JsonValue) -> tuple[SchemaViolation, ...]:
        """Return every violation, each once; the messages hold facts of the schema only. Raises InexactJson."""
        if self.accepts(value):
            return ()
        try:
            return tuple(
                dict.fromkeys(violation_of(error, value) for error in self._validator.iter_errors(value))
            )
        except ENGINE_FAULTS:
            raise _not_exact() from None

    def named_violations(self, value: JsonValue) -> tuple[SchemaViolation, ...]:
        """Return every violation with the names of the members that aren't allowed: for configuration, not for data."""
        if self.accepts(value):
            return ()
        try:
            found = (named_violations(error, value) for error in self._validator.iter_errors(value))
            return tuple(dict.fromkeys(chain.from_iterable(found)))
        except ENGINE_FAULTS:
            raise _not_exact() from None


def _refuse_deep(value: JsonValue) -> None:
    # The engine recurses on the native stack, where too deep means the end of the process.
    if is_nested_deeper(value, DEFAULT_LIMITS.depth_max):
        raise InexactJson(f"The value is nested deeper than {DEFAULT_LIMITS.depth_max} levels.")


def _not_exact() -> InexactJson:
    return InexactJson("The value isn't exact JSON, so no schema can be held against it.")
