"""A page of a language of ours, from its JSON Schema: what each kind of object may hold, and what that means."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.reference.wording import code, page, plain, table

type Schema = Mapping[str, Any]


def schema_page(file: Path) -> str:
    """Return the page of a schema: the document itself first, then every definition in the schema's order."""
    schema = json.loads(file.read_text(encoding="utf-8"))
    named = {f"#/$defs/{name}": each["title"] for name, each in schema["$defs"].items()}
    head = (
        f"{schema['description']} It is JSON, and an editor that reads `$schema` completes and explains it: "
        f"`contracts/schemas/{file.name}`."
    )
    own = "## The document\n\n" + _members(schema, named)
    return page(schema["title"], head, own, *(_definition(each, named) for each in schema["$defs"].values()))


def _definition(schema: Schema, named: Mapping[str, str]) -> str:
    shape = _members(schema, named) if "properties" in schema else _bounds(schema, named)
    return "\n\n".join(
        part for part in (f"## {schema['title']}", plain(schema.get("description", "")), shape) if part
    )


def _members(schema: Schema, named: Mapping[str, str]) -> str:
    needed = set(schema.get("required", ()))
    rows = [
        (code(name), "yes" if name in needed else "", _kind(member, named), _meaning(member))
        for name, member in schema["properties"].items()
    ]
    return table(("member", "needed", "value", "meaning"), rows)


def _meaning(member: Schema) -> str:
    return str(member.get("description", ""))


def _bounds(schema: Schema, named: Mapping[str, str]) -> str:
    told = _kind(schema, named)
    return f"Written as: {told}." if told else ""


def _kind(schema: Schema, named: Mapping[str, str]) -> str:
    """Say of which kind a value is, in a few words; a definition is linked."""
    return "; ".join(dict.fromkeys(_kinds(schema, named)))


def _kinds(schema: Schema, named: Mapping[str, str]) -> Iterator[str]:
    match schema:
        case {"$ref": str(reference)}:
            yield _link(named[reference])
        case {"const": value}:
            yield code(json.dumps(value))
        case {"enum": values}:
            yield " or ".join(code(json.dumps(value)) for value in values)
        case {"oneOf": choices} | {"anyOf": choices}:
            for choice in choices:
                yield from _kinds(choice, named)
        case {"type": "array", "items": items}:
            yield f"list of: {_kind(items, named)}"
        case {"type": "object", "additionalProperties": Mapping() as each}:
            yield f"object of: {_kind(each, named)}"
        case {"type": [*kinds]}:
            yield " or ".join(kinds)
        case {"type": str(kind)}:
            yield f"{kind}{_range(schema)}"
        case _:
            pass


def _range(schema: Schema) -> str:
    least, most = (schema.get(f"{end}imum", schema.get(f"{end}Length")) for end in ("min", "max"))
    if least is None and most is None:
        return ""
    if most is None:
        return f", {least} or more"
    return f", {least} to {most}" if least is not None else f", at most {most}"


def _link(title: str) -> str:
    return f"[{title}](#{title.lower().replace(' ', '-')})"
