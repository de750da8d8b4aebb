"""Somebody with an access token, who uses the service over HTTP as a front end does."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx2
from attrs import frozen
from tests.plugins.patience import wait_until

from orchestrator_domain.exact_json.text import dump_json, parse_json

ENDED = frozenset({"SUCCEEDED", "FAILED", "RECONCILIATION_REQUIRED"})


@frozen(kw_only=True)
class User:
    """One person, known by a token. What is named by an assertion below has to go well."""

    api_url: str
    http: httpx2.Client
    token: str | None

    def call(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request and return its answer, whatever its status; bytes are sent as they are."""
        lines = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            lines["Content-Type"] = "application/json"
        content = body if isinstance(body, bytes) or body is None else dump_json(body).encode()
        return self.http.request(
            method, f"{self.api_url}/api/v1{path}", content=content, headers={**lines, **(headers or {})}
        )

    def try_to_create(self, type_key: str, data: Any = None, *, key: str | None = None) -> httpx2.Response:
        body = {"typeKey": type_key, "data": {} if data is None else data}
        return self.call("POST", "/requests", body, headers={"Idempotency-Key": key or str(uuid4())})

    def create(self, type_key: str, data: Any = None, *, key: str | None = None) -> str:
        """Create a request and return its id."""
        answer = self.try_to_create(type_key, data, key=key)
        assert answer.status_code == 201, answer.text
        return str(exact(answer)["requestId"])

    def shown(self, request_id: str) -> dict[str, Any]:
        """Return a request as this user sees it, its numbers exactly."""
        answer = self.call("GET", f"/requests/{request_id}")
        assert answer.status_code == 200, answer.text
        return exact(answer)

    def tag(self, request_id: str) -> str:
        return str(self.call("GET", f"/requests/{request_id}").headers["ETag"])

    def send(
        self, request_id: str, event: str, data: Any = None, *, key: str | None = None, tag: str | None = None
    ) -> httpx2.Response:
        """Send an event, on the request as it is now unless a tag is named, under a key of its own unless one is named."""
        headers = {"Idempotency-Key": key or str(uuid4()), "If-Match": tag or self.tag(request_id)}
        body = {"event": event, "data": {} if data is None else data}
        return self.call("POST", f"/requests/{request_id}/events", body, headers=headers)

    def start(self, request_id: str, event: str, data: Any = None, *, key: str | None = None) -> str:
        """Send an event and return the id of its execution."""
        answer = self.send(request_id, event, data, key=key)
        assert answer.status_code == 202, answer.text
        return str(exact(answer)["executionId"])

    def execution(self, execution_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/executions/{execution_id}")
        assert answer.status_code == 200, answer.text
        return exact(answer)

    def ended(self, execution_id: str) -> dict[str, Any]:
        """Wait for the end of an execution, or for its stop before an operator, and return it."""

        def look() -> dict[str, Any] | None:
            found = self.execution(execution_id)
            return found if found["status"] in ENDED else None

        return wait_until("the end of an execution", look)

    def run(self, request_id: str, event: str, data: Any = None) -> dict[str, Any]:
        """Send an event and wait for the end of its execution."""
        return self.ended(self.start(request_id, event, data))


def exact(answer: httpx2.Response) -> dict[str, Any]:
    """Return an answer's JSON object with exact numbers."""
    value = parse_json(answer.content)
    assert isinstance(value, dict), answer.text
    return value


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    """Return status and problem code of a refusal."""
    return answer.status_code, str(exact(answer).get("code"))
