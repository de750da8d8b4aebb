"""The control interface of the provider doubles, in the words of a test."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx2
from attrs import frozen


@frozen(kw_only=True)
class ScriptedProviders:
    """The doubles that a service calls."""

    url: str
    http: httpx2.Client

    def reset(self) -> None:
        """Forget scripts, calls and data, and let go of what is held."""
        self._done("POST", "reset")

    def script(self, path: str, *answers: Mapping[str, Any]) -> None:
        """Let the next calls to a path or template be answered so, one after the other."""
        self._done("POST", "script", {"path": path, "answers": [dict(answer) for answer in answers]})

    def hold_next(self, path: str, **answer: Any) -> None:
        """Let the next call to a path take effect and wait for its answer until it is released."""
        self.script(path, {"mode": "hold", **answer})

    def await_held(self, count: int = 1) -> None:
        """Return when so many calls are held open."""
        held = self._done("GET", f"holding?wait={count}&timeoutMs=30000")["holding"]
        assert held == count, f"{held} calls are held open"

    def release(self) -> None:
        self._done("POST", "release")

    def calls(self, path: str) -> list[dict[str, Any]]:
        """Return the calls to a path or template in the order of their arrival."""
        found: list[dict[str, Any]] = self._done("GET", f"calls?path={path}")["calls"]
        return found

    def every_call(self) -> list[dict[str, Any]]:
        """Return all calls in the order of their arrival."""
        found: list[dict[str, Any]] = self._done("GET", "calls")["calls"]
        return found

    def effects(self, path: str) -> int:
        """Return how many calls to a path have changed something."""
        return int(self._done("GET", f"calls?path={path}")["effects"])

    def know(self, **data: Any) -> None:
        """Replace what the providers know: clients, scores, invalidDocuments."""
        self._done("PUT", "defaults", data)

    def add_document(
        self, *, owner: str, scope: str, document_type: str, document: str | None = None, **facts: Any
    ) -> str:
        """Put a document into the document service (clean and small unless told otherwise), and return its id."""
        name = document or str(uuid4())
        order = {"ownerSubject": owner, "businessScope": scope, "documentType": document_type, **facts}
        self._done("PUT", f"documents/{name}", order)
        return name

    def _done(self, method: str, name: str, body: Any = None) -> dict[str, Any]:
        answer = self.http.request(method, f"{self.url}/control/{name}", json=body, timeout=40.0)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document
