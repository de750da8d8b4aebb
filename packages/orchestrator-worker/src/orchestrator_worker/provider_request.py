"""One call put together from a route and an action's resolved inputs, field by field."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from attrs import field, frozen

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_worker.catalogue_soundness import PATH_FIELD
from orchestrator_worker.route import (
    Always,
    CallLimit,
    ContractPart,
    Endpoint,
    FromContract,
    FromInput,
    FromKey,
    RequestFields,
    RequestSource,
    Timeouts,
)


class UnsendableInput(Exception):
    """An input can't be put where the route wants it; `field_name` says which, and its value is not told."""

    def __init__(self, field_name: str) -> None:
        super().__init__(f"The field {field_name} can't be sent with this input.")
        self.field_name = field_name


@frozen(kw_only=True)
class ProviderRequest:
    """What one call sends. `target` is the path and query below the endpoint's base URL, fully encoded."""

    endpoint: Endpoint
    method: str
    target: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(factory=dict)
    timeouts: Timeouts
    answer_bytes_max: int
    limit: CallLimit | None = None


def target_of(request: RequestFields, context: ActionContext) -> str:
    """Return the path and query; raise UnsendableInput for a value that is no scalar or no segment."""
    path = PATH_FIELD.sub(
        lambda match: _segment(match[1], _value(request.path_fields[match[1]], context)), request.path
    )
    query = [(name, _text(name, value)) for name, value in _present(request.query_fields, context).items()]
    return f"{path}?{urlencode(query, quote_via=quote, safe='')}" if query else path


def body_of(request: RequestFields, context: ActionContext) -> bytes | None:
    """Return the JSON body, None for a request without one."""
    if request.body_fields is None:
        return None
    return dump_json(dict(_present(request.body_fields, context))).encode()


def headers_of(context: ActionContext) -> dict[str, str]:
    """Return the headers that make a call repeatable and traceable."""
    return {
        "Idempotency-Key": context.external_key,
        "X-Fencing-Token": str(context.fencing_token),
        **tracing_headers_of(context),
    }


def tracing_headers_of(context: ActionContext) -> dict[str, str]:
    """Return the headers of a call that nothing has to recognise again, but people."""
    correlation = context.correlation_id
    if correlation is None or not all("\x21" <= character <= "\x7e" for character in correlation):
        return {}
    return {"X-Correlation-Id": correlation}


def _present(fields: Mapping[str, RequestSource], context: ActionContext) -> dict[str, JsonValue]:
    found = {name: _value(source, context) for name, source in fields.items()}
    return {name: value for name, value in found.items() if not isinstance(value, Absent)}


def _value(source: RequestSource, context: ActionContext) -> JsonValue | Absent:
    match source:
        case Always():
            return source.value
        case FromInput():
            return context.inputs.get(source.name, ABSENT)
        case FromContract():
            is_name = source.part is ContractPart.PROFILE
            part = context.contract.profile if is_name else context.contract.profile_version
            return ABSENT if part is None else part
        case FromKey():
            return context.external_key


def _segment(name: str, value: JsonValue | Absent) -> str:
    """Encode all but unreserved characters, so that a value can't leave its segment (RFC 3986, section 2.3)."""
    text = _text(name, value)
    if text in ("", ".", ".."):
        raise UnsendableInput(name)
    return quote(text, safe="")


def _text(name: str, value: JsonValue | Absent) -> str:
    if isinstance(value, str):
        if any(character < " " or character == "\x7f" for character in value):
            raise UnsendableInput(name)
        return value
    if value is None or isinstance(value, (list, dict, Absent)):
        raise UnsendableInput(name)
    return dump_json(value)
