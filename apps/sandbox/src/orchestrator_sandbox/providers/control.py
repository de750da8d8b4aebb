"""Let a test script the doubles, look at what they received, and hold calls open."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from orchestrator_domain.exact_json.text import MalformedJson
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.checked_document import DocumentRefused, checked_document, document_schema
from orchestrator_sandbox.providers.doubles import ProviderDoubles
from orchestrator_sandbox.providers.journal import CallJournal
from orchestrator_sandbox.providers.script import SCRIPT_SCHEMA, AnswerScript
from orchestrator_sandbox.providers.wire import Answer, Received, json_answer

PREFIX = "/control/"
WAIT_MILLISECONDS = 10_000


class ProviderControl:
    """The state of the doubles, and the endpoints under `/control/` that change and show it."""

    def __init__(self) -> None:
        self.journal = CallJournal()
        self._start_afresh()

    async def answer(self, request: Received) -> Answer:
        """Carry out a request of the control interface; 400 names what is wrong with it."""
        path = request.path.removeprefix(PREFIX)
        name = f"{request.method} {path.split('/')[0]}"
        carry_out = self._endpoints().get(name)
        if carry_out is None:
            return json_answer(404, {"error": "NO_SUCH_CONTROL", "detail": f"There is no {name} here."})
        try:
            return json_answer(200, await carry_out(request))
        except MalformedJson as error:
            return json_answer(400, {"error": "MALFORMED_JSON", "detail": str(error)})
        except DocumentRefused as error:
            refusal: JsonObject = {"error": "REFUSED", "detail": str(error), "pointer": error.pointer}
            return json_answer(400, refusal)

    def _start_afresh(self) -> None:
        self.doubles = ProviderDoubles()
        self.script = AnswerScript()
        self.journal.calls.clear()
        self.journal.release()

    def _endpoints(self) -> dict[str, Callable[[Received], Awaitable[JsonObject]]]:
        return {
            "POST script": self._add_script,
            "GET calls": self._show_calls,
            "GET holding": self._show_holding,
            "POST release": self._release,
            "POST reset": self._reset,
            "PUT defaults": self._set_defaults,
            "PUT documents": self._register_document,
        }

    async def _add_script(self, request: Received) -> JsonObject:
        return {"waiting": self.script.add(checked_document(request.body, SCRIPT_SCHEMA))}

    async def _show_calls(self, request: Received) -> JsonObject:
        path = request.query.get("path")
        await self._wait(request, lambda: len(self.journal.of(path)))
        calls = self.journal.of(path)
        return {
            "calls": [call.as_json() for call in calls],
            "effects": sum(call.effect_applied for call in calls),
        }

    async def _show_holding(self, request: Received) -> JsonObject:
        await self._wait(request, lambda: self.journal.holding)
        return {"holding": self.journal.holding}

    async def _release(self, _request: Received) -> JsonObject:
        return {"released": self.journal.release()}

    async def _reset(self, _request: Received) -> JsonObject:
        self._start_afresh()
        return {}

    async def _set_defaults(self, request: Received) -> JsonObject:
        order = checked_document(request.body, _DEFAULTS)
        data = self.doubles.data
        data.clients = order.get("clients", data.clients)
        data.scores = order.get("scores", data.scores)
        data.invalid_documents = order.get("invalidDocuments", data.invalid_documents)
        return {}

    async def _register_document(self, request: Received) -> JsonObject:
        document = request.path.removeprefix(f"{PREFIX}documents/")
        order = checked_document(request.body, _DOCUMENT)
        metadata: JsonObject = {
            "documentId": document,
            "requestId": None,
            "mimeType": "application/pdf",
            "sizeBytes": 2048,
            "checksum": hashlib.sha256(document.encode()).hexdigest(),
            "malwareStatus": "CLEAN",
            **order,
        }
        self.doubles.data.documents[document] = metadata
        return metadata

    async def _wait(self, request: Received, count: Callable[[], int]) -> None:
        wanted = _number(request, "wait", 0)
        await self.journal.until(
            lambda: count() >= wanted, _number(request, "timeoutMs", WAIT_MILLISECONDS) / 1000
        )


def _number(request: Received, name: str, default: int) -> int:
    given = request.query.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise DocumentRefused(pointer=f"?{name}", rule="whole number")
    return int(given)


_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}
_DEFAULTS = document_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "clients": {"type": "object", "additionalProperties": {"type": "object"}},
            "scores": {"type": "object", "additionalProperties": {"type": "number"}},
            "invalidDocuments": {"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        },
    }
)
_DOCUMENT = document_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["ownerSubject", "businessScope", "documentType"],
        "properties": {
            "ownerSubject": _TEXT,
            "businessScope": _TEXT,
            "requestId": {"type": ["string", "null"], "format": "uuid"},
            "documentType": _TEXT,
            "mimeType": _TEXT,
            "sizeBytes": {"type": "integer", "minimum": 0},
            "checksum": _TEXT,
            "malwareStatus": {"enum": ["CLEAN", "INFECTED", "PENDING"]},
        },
    }
)
