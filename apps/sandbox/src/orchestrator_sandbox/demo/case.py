"""One request of whatever type, moved on by the people who work on it as their front ends would."""

from typing import Any
from uuid import uuid4

import httpx2
from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.clients import ApiClient, DoublesClient
from orchestrator_sandbox.demo.patience import Patience

SCOPE = "SUCURSAL-1"
_ENDED = frozenset({"SUCCEEDED", "FAILED", "RECONCILIATION_REQUIRED"})


@frozen(kw_only=True)
class Office:
    """Who asks and who works, the doubles of what they work with, and their patience."""

    applicant: ApiClient
    clerk: ApiClient
    doubles: DoublesClient
    patience: Patience


@frozen(kw_only=True)
class Event:
    """A command, ready to be sent, and to be sent again with its key."""

    request_id: str
    body: JsonObject
    headers: dict[str, str]

    def sent_by(self, client: ApiClient) -> httpx2.Response:
        """Send it and return the answer, whatever its status."""
        return client.send("POST", f"/requests/{self.request_id}/events", self.body, headers=self.headers)


@frozen(kw_only=True)
class Case:
    """A request that was created, as the clerk sees it."""

    office: Office
    request_id: str

    def state(self) -> str:
        return str(self._shown().json()["state"])

    def version(self) -> int:
        """Return the version of the flow that the request began with."""
        return int(self._shown().json()["flow"]["version"])

    def event(self, event: str, data: JsonObject) -> Event:
        """Make a command for the request as it is now, with a key of its own."""
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": self._shown().headers["ETag"]}
        return Event(request_id=self.request_id, body={"event": event, "data": data}, headers=headers)

    def run(self, event: Event, sender: ApiClient) -> str:
        """Send an event, wait for its execution, and tell how it ended and where the request is."""
        answer = event.sent_by(sender)
        if answer.status_code != 202:
            return f"refused with {answer.status_code} {answer.json().get('code', '')}"
        return self.ended(answer.json()["executionId"])

    def ended(self, execution_id: str) -> str:
        """Wait for the end of an execution, and tell how it ended and where the request is."""
        execution = self.office.patience.until(
            "The end of an execution", lambda: self._ended_execution(execution_id)
        )
        if execution["status"] == "SUCCEEDED":
            return f"{execution['result']['outcome']}, {self.state()}"
        return f"{execution['status']} {execution['errorCode']}, {self.state()}"

    def _ended_execution(self, execution_id: str) -> dict[str, Any] | None:
        execution: dict[str, Any] = self.office.clerk.done("GET", f"/executions/{execution_id}").json()
        return execution if execution["status"] in _ENDED else None

    def _shown(self) -> httpx2.Response:
        return self.office.clerk.done("GET", f"/requests/{self.request_id}")


def created_request(creator: ApiClient, type_key: str, data: JsonObject) -> str:
    """Create a request and return its id."""
    body: JsonObject = {"typeKey": type_key, "data": data}
    answer = creator.done("POST", "/requests", body, headers={"Idempotency-Key": str(uuid4())})
    return str(answer.json()["requestId"])
