"""One credit request, moved on by an applicant and an analyst as their front ends would."""

from typing import Any, Self
from uuid import uuid4

import httpx2
from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.clients import ApiClient, DoublesClient
from orchestrator_sandbox.demo.patience import Patience

TYPE_KEY = "CREDITO"
APPLICANT = "solicitante-1"
ANALYST = "analista-1"
SCOPE = "SUCURSAL-1"
_ENDED = frozenset({"SUCCEEDED", "FAILED", "RECONCILIATION_REQUIRED"})


@frozen(kw_only=True)
class Office:
    """The people at work, the doubles of what they work with, and their patience."""

    applicant: ApiClient
    analyst: ApiClient
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
class CreditCase:
    """A request that was created."""

    office: Office
    request_id: str

    @classmethod
    def created(cls, office: Office) -> Self:
        body: JsonObject = {"typeKey": TYPE_KEY, "data": {"montoSolicitado": 150000, "plazoMeses": 24}}
        answer = office.applicant.done("POST", "/requests", body, headers={"Idempotency-Key": str(uuid4())})
        return cls(office=office, request_id=answer.json()["requestId"])

    def state(self) -> str:
        return str(self._shown().json()["state"])

    def event(self, event: str, data: JsonObject) -> Event:
        """Make a command for the request as it is now, with a key of its own."""
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": self._shown().headers["ETag"]}
        return Event(request_id=self.request_id, body={"event": event, "data": data}, headers=headers)

    def assign(self, client: str) -> str:
        return self.run(self.event("ASIGNAR_CLIENTE", {"clienteId": client}), self.office.analyst)

    def register_identification(self) -> str:
        return self._register("REGISTRAR_INE", "INE")

    def register_bank_statement(self) -> str:
        return self._register("REGISTRAR_ESTADO_CUENTA", "ESTADO_CUENTA")

    def consult_bureau(self) -> str:
        return self.run(self.bureau_event(), self.office.analyst)

    def bureau_event(self) -> Event:
        return self.event("VALIDAR_BURO", {"consentReference": "CONSENT-1"})

    def prepare_for_bureau(self, client: str) -> None:
        """Take the request to where the bureau is next."""
        self.assign(client)
        self.register_identification()
        self.register_bank_statement()

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
        execution: dict[str, Any] = self.office.analyst.done("GET", f"/executions/{execution_id}").json()
        return execution if execution["status"] in _ENDED else None

    def _register(self, event: str, document_type: str) -> str:
        document = self.office.doubles.add_document(owner=APPLICANT, scope=SCOPE, document_type=document_type)
        return self.run(self.event(event, {"documentId": document}), self.office.applicant)

    def _shown(self) -> httpx2.Response:
        return self.office.analyst.done("GET", f"/requests/{self.request_id}")
