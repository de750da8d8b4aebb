"""Boundary cases as JSON, to be stored beside a flow."""

from collections.abc import Iterable
from typing import ClassVar, Final, assert_never

from orchestrator_domain.decision.boundary_cases import (
    BoundaryCase,
    Expected,
    ExpectedError,
    ExpectedOutput,
)
from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import DecisionKey

_ERROR_CODES: Final = ("EVALUATION_ERROR", "AMBIGUOUS_DECISION")


class InvalidCases(OrchestratorError):
    """A document doesn't hold boundary cases; `pointer` says where."""

    code: ClassVar[str] = "INVALID_CASES"


def cases_document(cases: Iterable[BoundaryCase]) -> JsonObject:
    """Write cases as `{"schemaVersion": 1, "cases": [{"decision", "context", "expected"}]}`.

    What is expected is `{"output": key}` or `{"error": code}`.
    """
    return {"schemaVersion": 1, "cases": [_written(case) for case in cases]}


def read_cases(document: JsonValue) -> tuple[BoundaryCase, ...]:
    """Read what `cases_document` writes; raise InvalidCases."""
    root = Pointer.root()
    cases = _member(document, "cases", root)
    if _member(document, "schemaVersion", root) != 1:
        raise InvalidCases("This release reads schemaVersion 1 only.", pointer="/schemaVersion")
    if not isinstance(cases, list):
        raise InvalidCases("'cases' is an array of cases.", pointer="/cases")
    return tuple(_read(case, root.child("cases").child(index)) for index, case in enumerate(cases))


def expected_document(expected: Expected) -> JsonObject:
    match expected:
        case ExpectedOutput(output=output):
            return {"output": output}
        case ExpectedError(code=code):
            return {"error": code}
        case _ as unreachable:
            assert_never(unreachable)


def _written(case: BoundaryCase) -> JsonObject:
    return {
        "decision": case.decision,
        "context": case.context,
        "expected": expected_document(case.expected),
    }


def _read(case: JsonValue, at: Pointer) -> BoundaryCase:
    decision, context = _member(case, "decision", at), _member(case, "context", at)
    if not isinstance(decision, str) or not isinstance(context, dict):
        message = "A case names its decision in a string, and its context is an object."
        raise InvalidCases(message, pointer=str(at))
    expected = _expected(_member(case, "expected", at), at.child("expected"))
    return BoundaryCase(decision=DecisionKey(decision), context=context, expected=expected)


def _expected(written: JsonValue, at: Pointer) -> Expected:
    match written:
        case {"output": str(output), **others} if not others:
            return ExpectedOutput(output=output)
        case {"error": str(code), **others} if not others and code in _ERROR_CODES:
            return ExpectedError(code=code)
    message = f"What is expected is an 'output', or an 'error' that is {' or '.join(_ERROR_CODES)}."
    raise InvalidCases(message, pointer=str(at))


def _member(value: JsonValue, name: str, at: Pointer) -> JsonValue:
    if not isinstance(value, dict) or name not in value:
        raise InvalidCases(f"An object with the member '{name}' is expected here.", pointer=str(at))
    return value[name]
