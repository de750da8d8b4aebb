"""Bodies: strict JSON in, exact JSON out, and the shape of each command."""

import re
from collections.abc import Mapping
from typing import Final, cast

from starlette.responses import Response

from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue, escaped_token
from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.refusals import InvalidBody, UnsupportedMediaType

_JSON_TYPE: Final = re.compile(r'application/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?', re.IGNORECASE)
PRIVATE: Final[Mapping[str, str]] = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""Headers of what depends on who reads it: kept by nobody else, and asked for anew each time."""

_KIND_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    dict: "an object",
    bool: "true or false",
    list: "a list",
    int: "a whole number",
}


class AnswerUnwritable(Exception):
    """What we want to answer isn't exact JSON: a defect of ours, which no caller may be blamed for."""


def json_response(
    body: JsonValue, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with exact JSON, which no browser may take for anything else."""
    try:
        text = dump_json(body)
    except InexactJson as defect:
        raise AnswerUnwritable(defect.message) from None
    return Response(
        text,
        status_code=status,
        media_type="application/json",
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **(headers or {})},
    )


def require_json(headers: HeaderLines) -> None:
    """Raise UnsupportedMediaType unless the body is announced as JSON in UTF-8."""
    content_type = headers.one("Content-Type", refusal=UnsupportedMediaType)
    if content_type is None or not _JSON_TYPE.fullmatch(content_type):
        raise UnsupportedMediaType("The body must be sent as Content-Type: application/json, in UTF-8.")
    coding = headers.one("Content-Encoding", refusal=UnsupportedMediaType)
    if coding is not None and coding.lower() != "identity":
        raise UnsupportedMediaType("The body must be sent without a Content-Encoding.")


def object_body(text: bytes) -> JsonObject:
    """Read a body that is one JSON object; raise MalformedJson or InvalidBody."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise InvalidBody("The body must be a JSON object.", pointer="")
    return value


def members(
    body: JsonObject,
    *,
    required: Mapping[str, type],
    optional: Mapping[str, type] | None = None,
    within: str = "",
) -> JsonObject:
    """Return the body once it has exactly the named members, each of the named kind (str, dict, list, bool, int).

    `within` is the pointer of an object that lies inside a body.

    Raises InvalidBody with the pointer of the first member that is unknown, missing or of another kind.
    """
    kinds = {**required, **(optional or {})}
    for name, value in body.items():
        if name not in kinds:
            known = ", ".join(kinds)
            raise InvalidBody(
                f"The body has an unknown member; it takes {known}.",
                pointer=f"{within}/{escaped_token(name)}",
            )
        if type(value) is not kinds[name]:
            raise InvalidBody(f"The member must be {_KIND_NAMES[kinds[name]]}.", pointer=f"{within}/{name}")
    for name in required:
        if name not in body:
            raise InvalidBody(f"The member {name} is missing.", pointer=f"{within}/{name}")
    return body


def text_of(body: JsonObject, name: str) -> str:
    """Return a member that `members` has found to be a string."""
    return cast("str", body[name])


def object_of(body: JsonObject, name: str) -> JsonObject:
    """Return a member that `members` has found to be an object."""
    return cast("JsonObject", body[name])


def truth_of(body: JsonObject, name: str) -> bool:
    """Return a member that `members` has found to be true or false."""
    return cast("bool", body[name])
