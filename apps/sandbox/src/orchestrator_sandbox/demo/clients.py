"""Speak HTTP with the service and with the provider doubles, as anybody could."""

from typing import Any, Self
from uuid import uuid4

import httpx2
from attrs import frozen

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonValue

SECONDS = 10.0


class UnexpectedAnswer(Exception):
    """A server answered with another status than the step needs."""


@frozen(kw_only=True)
class ApiClient:
    """The service's API with one access token."""

    http: httpx2.Client

    @classmethod
    def of(cls, api_url: str, token: str) -> Self:
        return cls(
            http=httpx2.Client(
                base_url=f"{api_url}/api/v1",
                headers={"Authorization": f"Bearer {token}"},
                timeout=SECONDS,
                trust_env=False,
            )
        )

    def send(
        self, method: str, path: str, body: JsonValue = None, *, headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request and return its answer, whatever its status."""
        if body is None:
            return self.http.request(method, path, headers=headers)
        content = dump_json(body).encode()
        return self.http.request(
            method, path, content=content, headers={"Content-Type": "application/json", **(headers or {})}
        )

    def done(
        self, method: str, path: str, body: JsonValue = None, *, headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request and return its answer; raise UnexpectedAnswer unless it is a 2xx."""
        answer = self.send(method, path, body, headers=headers)
        if not answer.is_success:
            raise UnexpectedAnswer(f"{method} {path} was answered {status_and_code(answer)}.")
        return answer


@frozen(kw_only=True)
class DoublesClient:
    """The control interface of the provider doubles, and what people look up at the providers themselves."""

    http: httpx2.Client
    providers_url: str

    @classmethod
    def of(cls, providers_url: str) -> Self:
        http = httpx2.Client(base_url=f"{providers_url}/control", timeout=SECONDS, trust_env=False)
        return cls(http=http, providers_url=providers_url)

    def add_document(self, *, owner: str, scope: str, document_type: str) -> str:
        """Put a clean document of an owner into the document service, and return its id."""
        document = str(uuid4())
        facts = {"ownerSubject": owner, "businessScope": scope, "documentType": document_type}
        self._done("PUT", f"/documents/{document}", facts)
        return document

    def hold_next(self, path: str) -> None:
        """Let the next call to a path take effect and wait for its answer until it is released."""
        self._done("POST", "/script", {"path": path, "answers": [{"mode": "hold"}]})

    def lose_next_answer(self, path: str) -> None:
        """Let the next call to a path take effect, and drop the connection instead of answering it."""
        self._done("POST", "/script", {"path": path, "answers": [{"mode": "drop_after_effect"}]})

    def lose_next_call(self, path: str) -> None:
        """Let the next call to a path come to nothing, and drop its connection."""
        self._done("POST", "/script", {"path": path, "answers": [{"mode": "drop_before_answer"}]})

    def ledger_entry(self, path: str, key: str) -> dict[str, Any] | None:
        """Return what a provider has on its books under a key, None for nothing."""
        answer = self.http.get(f"{self.providers_url}{path}/{key}")
        if answer.status_code == 404:
            return None
        entry: dict[str, Any] = answer.raise_for_status().json()
        return entry

    def holding(self) -> int:
        return int(self._done("GET", "/holding")["holding"])

    def release(self) -> None:
        self._done("POST", "/release")

    def calls(self, path: str) -> list[dict[str, Any]]:
        """Return the calls to a path in their order."""
        calls: list[dict[str, Any]] = self._done("GET", f"/calls?path={path}")["calls"]
        return calls

    def _done(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = self.http.request(method, path, json=body)
        if not answer.is_success:
            raise UnexpectedAnswer(f"The doubles answered {method} {path} with {answer.status_code}.")
        document: dict[str, Any] = answer.json()
        return document


def status_and_code(answer: httpx2.Response) -> str:
    """Tell an answer's status, and the problem's code when it has one."""
    try:
        code = answer.json().get("code", "")
    except (ValueError, AttributeError):
        code = ""
    return f"{answer.status_code} {code}".strip()
