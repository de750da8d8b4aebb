"""The third part of the demonstration: a payment whose answer is lost, and the operator who finds out."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from attrs import define

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.case import Case, Office, created_request
from orchestrator_sandbox.demo.clients import ApiClient
from orchestrator_sandbox.demo.configurator import Configurator
from orchestrator_sandbox.demo.step import Step

TYPE_KEY = "COMPRA"
PAYMENTS = "/pagos/autorizaciones"


@define(kw_only=True)
class Purchase:
    """A purchase, whose office is that of a buyer and a cashier."""

    configurator: Configurator
    office: Office
    operator: ApiClient
    flow: JsonObject
    _case: Case | None = None
    _stopped: dict[str, Any] | None = None

    def steps(self) -> Iterator[Step]:
        """Return the steps in their order; later ones build on earlier ones."""
        yield Step(
            name="purchase published and activated",
            expected=("PUBLISHED, active for COMPRA",),
            act=self._publish,
        )
        yield Step(
            name="purchase created, client found",
            expected=("CLIENTE_ENCONTRADO, PAGO_PENDIENTE",),
            act=self._create,
        )
        yield Step(
            name="answer to the payment lost",
            expected=("RECONCILIATION_REQUIRED PROVIDER_TIMEOUT",),
            act=self._pay,
        )
        yield Step(
            name="operator looks what waits",
            expected=("1: autorizar UNKNOWN, NON_IDEMPOTENT_WRITE",),
            act=self._look,
        )
        yield Step(
            name="operator confirms from the ledger", expected=("AUTORIZADO, PAGADA",), act=self._confirm
        )
        yield Step(name="what the payment provider saw", expected=("1 call, 1 charge",), act=self._charges)

    def _publish(self) -> str:
        flow_id, status = self.configurator.published(self.flow)
        if status != "PUBLISHED":
            return status
        return f"{status}, {self.configurator.activate(TYPE_KEY, flow_id)}"

    def _create(self) -> str:
        data: JsonObject = {"referencia": "COMPRA-1", "importe": 1250, "moneda": "MXN"}
        request_id = created_request(self.office.applicant, TYPE_KEY, data)
        self._case = Case(office=self.office, request_id=request_id)
        assigned = self._case.event("ASIGNAR_CLIENTE", {"clienteId": "CLI-71"})
        return self._case.run(assigned, self.office.clerk)

    def _pay(self) -> str:
        self.office.doubles.lose_next_answer(PAYMENTS)
        stopped = self._purchase().run(self._purchase().event("PAGAR", {}), self.office.applicant)
        return stopped.removesuffix(", PAGO_PENDIENTE")

    def _look(self) -> str:
        waiting = self.operator.done("GET", "/admin/executions?status=RECONCILIATION_REQUIRED").json()[
            "items"
        ]
        for case in waiting:
            self._stopped = case
        action = (self._stopped or {}).get("stoppedAction") or {}
        return f"{len(waiting)}: {action.get('actionId')} {action.get('status')}, {action.get('effect')}"

    def _confirm(self) -> str:
        """Read the provider's ledger under the call's key, and say what is there."""
        assert self._stopped is not None, "the step before has found it"
        action, execution_id = self._stopped["stoppedAction"], str(self._stopped["executionId"])
        found = self.office.doubles.ledger_entry(PAYMENTS, action["externalKey"])
        if found is None:
            return "the ledger holds no such payment"
        body: JsonObject = {
            "actionId": action["actionId"],
            "stop": self._stopped["stop"],
            "resolution": "RESUME_WITH_RESULT",
            "result": found,
            "evidence": {"text": "Read in the ledger of the payment provider.", "reference": "OPS-17"},
        }
        path = f"/admin/executions/{execution_id}/resolve"
        self.operator.done("POST", path, body, headers={"Idempotency-Key": str(uuid4())})
        return self._purchase().ended(execution_id)

    def _charges(self) -> str:
        calls = self.office.doubles.calls(PAYMENTS)
        return f"{len(calls)} call, {sum(call['effectApplied'] for call in calls)} charge"

    def _purchase(self) -> Case:
        assert self._case is not None, "a step before has created it"
        return self._case
