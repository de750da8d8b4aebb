"""The last part of the demonstration: lost payments that are looked up before anybody is called."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from attrs import define, field

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_sandbox.demo.case import Case, Office, created_request
from orchestrator_sandbox.demo.clients import ApiClient
from orchestrator_sandbox.demo.configurator import Configurator
from orchestrator_sandbox.demo.purchase import PAYMENTS, TYPE_KEY
from orchestrator_sandbox.demo.step import Step

INTEGRATION = "PAGO_AUTORIZACION"
ASKABLE_VERSION = 2


@define(kw_only=True)
class AskedPayment:
    """Two purchases of a version whose payments can be asked about: one that was charged, and one that wasn't."""

    configurator: Configurator
    office: Office
    operator: ApiClient
    flow: JsonObject
    _calls_before: int = 0
    _unconfirmed: Case | None = None
    _stopped: dict[str, Any] = field(factory=dict)

    def steps(self) -> Iterator[Step]:
        """Return the steps in their order; later ones build on earlier ones."""
        yield Step(
            name="purchase version 2 asks the ledger",
            expected=("PUBLISHED, active for COMPRA",),
            act=self._publish,
        )
        yield Step(
            name="lost payment, found by itself", expected=("AUTORIZADO, PAGADA",), act=self._pay_and_lose
        )
        yield Step(
            name="lost payment, not in the ledger",
            expected=("RECONCILIATION_REQUIRED PROVIDER_TIMEOUT",),
            act=self._pay_in_vain,
        )
        yield Step(
            name="what the worker has asked",
            expected=("autorizar: NOT_FOUND, asked again",),
            act=self._look,
        )
        yield Step(
            name="operator has made sure of it", expected=("AUTORIZADO, PAGADA",), act=self._verified_absent
        )
        yield Step(name="what the provider saw of both", expected=("3 calls, 2 charges",), act=self._charges)

    def _publish(self) -> str:
        self._calls_before = len(self.office.doubles.calls(PAYMENTS))
        flow_id, status = self.configurator.published(askable(self.flow))
        if status != "PUBLISHED":
            return status
        return f"{status}, {self.configurator.replace(TYPE_KEY, flow_id)}"

    def _pay_and_lose(self) -> str:
        purchase = self._ready_to_pay("COMPRA-2")
        self.office.doubles.lose_next_answer(PAYMENTS)
        return purchase.run(purchase.event("PAGAR", {}), self.office.applicant)

    def _pay_in_vain(self) -> str:
        self._unconfirmed = self._ready_to_pay("COMPRA-3")
        self.office.doubles.lose_next_call(PAYMENTS)
        stopped = self._unconfirmed.run(self._unconfirmed.event("PAGAR", {}), self.office.applicant)
        return stopped.removesuffix(", PAGO_PENDIENTE")

    def _look(self) -> str:
        waiting = self.operator.done("GET", "/admin/executions?status=RECONCILIATION_REQUIRED").json()
        (self._stopped,) = waiting["items"]
        probes: dict[str, Any] = self._stopped["probes"] or {}
        often = "again" if probes.get("asked", 0) > 1 else "once"
        return f"{probes.get('actionId')}: {probes.get('outcome')}, asked {often}"

    def _verified_absent(self) -> str:
        body: JsonObject = {
            "actionId": "autorizar",
            "stop": self._stopped["stop"],
            "resolution": "RESUME_EFFECT_ABSENT",
            "evidence": {"text": "The provider states that nothing was charged.", "reference": "OPS-18"},
        }
        execution_id = str(self._stopped["executionId"])
        path = f"/admin/executions/{execution_id}/resolve"
        self.operator.done("POST", path, body, headers={"Idempotency-Key": str(uuid4())})
        assert self._unconfirmed is not None, "a step before has created it"
        return self._unconfirmed.ended(execution_id)

    def _charges(self) -> str:
        calls = self.office.doubles.calls(PAYMENTS)[self._calls_before :]
        return f"{len(calls)} calls, {sum(call['effectApplied'] for call in calls)} charges"

    def _ready_to_pay(self, reference: str) -> Case:
        data: JsonObject = {"referencia": reference, "importe": 990, "moneda": "MXN"}
        case = Case(office=self.office, request_id=created_request(self.office.applicant, TYPE_KEY, data))
        case.run(case.event("ASIGNAR_CLIENTE", {"clienteId": "CLI-71"}), self.office.clerk)
        return case


def askable(flow: JsonObject) -> JsonObject:
    """Return the next version of a purchase, which pays by the contract that can be asked about its effects."""
    transitions = flow["transitions"]
    assert isinstance(transitions, list), "the version before it was published"
    return {**flow, "version": 2, "transitions": [_askable(transition) for transition in transitions]}


def _askable(part: JsonValue) -> JsonValue:
    if isinstance(part, list):
        return [_askable(each) for each in part]
    if not isinstance(part, dict):
        return part
    copied = {name: _askable(value) for name, value in part.items()}
    return (
        {**copied, "contractVersion": ASKABLE_VERSION}
        if part.get("integrationKey") == INTEGRATION
        else copied
    )
