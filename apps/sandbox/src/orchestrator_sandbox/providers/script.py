"""Hold the answers that a test has scripted, each for one call."""

import base64
from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_sandbox.checked_document import document_schema
from orchestrator_sandbox.providers.wire import Answer


class Mode(StrEnum):
    """How an answer is delivered."""

    NORMAL = "normal"
    DROP_BEFORE_ANSWER = "drop_before_answer"
    DROP_AFTER_EFFECT = "drop_after_effect"
    DRIP = "drip"
    TRUNCATED = "truncated"
    HOLD = "hold"


@frozen(kw_only=True)
class ScriptedAnswer:
    """What is answered to one call instead of the default; what is None stays as the default has it."""

    mode: Mode = Mode.NORMAL
    status: int | None = None
    body: bytes | None = None
    headers: dict[str, str] = field(factory=dict)
    delay_seconds: float = 0.0
    effect: bool | None = None

    @property
    def applies_effect(self) -> bool:
        """Tell whether the call takes effect: as said, else as its mode or its status suggests."""
        if self.effect is not None:
            return self.effect
        match self.mode:
            case Mode.DROP_BEFORE_ANSWER:
                return False
            case Mode.DROP_AFTER_EFFECT:
                return True
            case _:
                return self.status is None or self.status < 400

    def over(self, default: Answer) -> Answer:
        """Return the default answer with what was scripted in its place."""
        body = self.body if self.body is not None else (default.body if self.status is None else b"")
        headers = {**default.headers, **self.headers}
        return Answer(status=self.status or default.status, headers=headers, body=body)


class AnswerScript:
    """Queues of scripted answers, by path or path template and perhaps method."""

    def __init__(self) -> None:
        self._queues: dict[tuple[str | None, str], deque[ScriptedAnswer]] = {}

    def add(self, order: dict[str, Any]) -> int:
        """Queue the answers of an order that agrees with SCRIPT_SCHEMA, and return how many wait there."""
        queue = self._queues.setdefault((order.get("method"), order["path"]), deque())
        for each in order["answers"]:
            queue.extend(_answers(each))
        return len(queue)

    def take(self, *, method: str, path: str, template: str) -> ScriptedAnswer | None:
        """Remove and return the next answer for a call, the most specific queue first."""
        for key in ((method, path), (None, path), (method, template), (None, template)):
            if self._queues.get(key):
                return self._queues[key].popleft()
        return None


def _answers(order: dict[str, Any]) -> Iterator[ScriptedAnswer]:
    answer = ScriptedAnswer(
        mode=Mode(order.get("mode", Mode.NORMAL)),
        # A whole number may be written as 503.0.
        status=int(order["status"]) if "status" in order else None,
        body=_body(order),
        headers=order.get("headers", {}),
        delay_seconds=float(order.get("delayMs", 0)) / 1000,
        effect=order.get("effect"),
    )
    return (answer for _ in range(int(order.get("times", 1))))


def _body(order: dict[str, Any]) -> bytes | None:
    match order:
        case {"rawBody": str(text)}:
            return text.encode()
        case {"rawBodyBase64": str(text)}:
            return base64.b64decode(text)
        case {"body": value}:
            return dump_json(value).encode()
        case _:
            return None


_HEADERS = {
    "type": "object",
    "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
    "additionalProperties": {"type": "string", "pattern": "^[\\t -~]*$"},
}
_ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "status": {"type": "integer", "minimum": 200, "maximum": 599},
        "body": True,
        "rawBody": {"type": "string"},
        "rawBodyBase64": {
            "type": "string",
            "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==|[A-Za-z0-9+/]=))?$",
        },
        "headers": _HEADERS,
        "delayMs": {"type": "integer", "minimum": 0, "maximum": 600_000},
        "mode": {"enum": [mode.value for mode in Mode]},
        "effect": {"type": "boolean"},
        "times": {"type": "integer", "minimum": 1, "maximum": 10_000},
    },
}
SCRIPT_SCHEMA = document_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["path", "answers"],
        "properties": {
            "path": {"type": "string", "pattern": "^/"},
            "method": {"type": "string", "pattern": "^[A-Z]+$"},
            "answers": {"type": "array", "items": _ANSWER, "minItems": 1, "maxItems": 1000},
        },
    }
)
