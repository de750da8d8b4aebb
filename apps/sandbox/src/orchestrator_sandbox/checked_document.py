"""Check what a control endpoint receives against its schema, and say where it is wrong."""

from typing import Any

import jsonschema_rs

from orchestrator_domain.exact_json.text import parse_json


class DocumentRefused(ValueError):
    """A document breaks its schema; carries the place as a JSON Pointer and the broken keyword."""

    def __init__(self, *, pointer: str, rule: str) -> None:
        super().__init__(
            f"The document breaks the rule `{rule}` at {pointer or 'its top'}: correct that member."
        )
        self.pointer = pointer
        self.rule = rule


def document_schema(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """Compile a schema that fetches nothing and asserts its formats."""
    return jsonschema_rs.Draft202012Validator(
        schema, offline=True, validate_formats=True, ignore_unknown_formats=False
    )


def checked_document(raw: bytes, schema: jsonschema_rs.Draft202012Validator) -> dict[str, Any]:
    """Parse a body, an empty one as an empty object, and return it once it agrees with its schema.

    Raises MalformedJson or DocumentRefused.
    """
    document = parse_json(raw) if raw.strip() else {}
    if not isinstance(document, dict):
        raise DocumentRefused(pointer="", rule="type")
    for error in schema.iter_errors(document):
        raise DocumentRefused(pointer=_pointer(error.instance_path), rule=error.kind.name)
    return document


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
