"""The first part of the demonstration: a credit request from its creation to its end, and a worker killed on the way."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx2
from attrs import define, field, frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.case import Event, Office
from orchestrator_sandbox.demo.clients import ApiClient, status_and_code
from orchestrator_sandbox.demo.configurator import Configurator
from orchestrator_sandbox.demo.credit_case import TYPE_KEY, CreditCase
from orchestrator_sandbox.demo.step import Step
from orchestrator_sandbox.sandbox import Sandbox

BUREAU = "/buro/consultas"


@define(kw_only=True)
class Story:
    """What is done to a running sandbox, by HTTP alone; the sandbox itself is used to kill a worker."""

    sandbox: Sandbox
    configurator: Configurator
    office: Office
    flow: JsonObject
    _flow_id: str = ""
    _shared_case: CreditCase | None = None
    _first_event: Event | None = None
    _first_execution: str = ""
    _calls_around_the_kill: list[dict[str, Any]] = field(factory=list)

    def steps(self) -> Iterator[Step]:
        """Return the steps in their order; later ones build on earlier ones."""
        yield Step(name="flow validated and published", expected=("PUBLISHED",), act=self._publish)
        yield Step(name="flow activated", expected=(f"active for {TYPE_KEY}",), act=self._activate)
        yield Step(
            name="client not found", expected=("CLIENTE_NO_ENCONTRADO, CREADA",), act=self._unknown_client
        )
        yield Step(
            name="client found", expected=("CLIENTE_ENCONTRADO, INE_PENDIENTE",), act=self._known_client
        )
        yield Step(
            name="event repeated with its key",
            expected=("same execution, no second call",),
            act=self._repeat,
        )
        yield Step(
            name="INE registered",
            expected=("DOCUMENTO_VALIDO, ESTADO_CUENTA_PENDIENTE",),
            act=self._identification,
        )
        yield Step(
            name="bank statement registered",
            expected=("DOCUMENTO_VALIDO, BURO_PENDIENTE",),
            act=self._bank_statement,
        )
        yield Step(name="bureau scores 71", expected=("N, PASO_N",), act=self._bureau)
        for score, expected in ((70, "M, PASO_M"), (61, "M, PASO_M"), (60, "MANUAL, REVISION_MANUAL")):
            yield Step(
                name=f"bureau scores {score}", expected=(expected,), act=_Whole(self.office, f"CLI-{score}")
            )
        yield Step(name="two events at once", expected=("202 and 409", "202 and 412"), act=self._race)
        yield Step(name="worker killed during a call", expected=("N, PASO_N",), act=self._kill)
        yield Step(
            name="what the bureau saw of it",
            expected=("2 calls, 1 key, 1 effect, fence grown",),
            act=lambda: _told(self._calls_around_the_kill),
        )

    def _publish(self) -> str:
        self._flow_id, status = self.configurator.published(self.flow)
        return status

    def _activate(self) -> str:
        return self.configurator.activate(TYPE_KEY, self._flow_id)

    def _unknown_client(self) -> str:
        return self._case().assign("CLI-999")

    def _known_client(self) -> str:
        case = self._case()
        self._first_event = case.event("ASIGNAR_CLIENTE", {"clienteId": "CLI-71"})
        answer = self._first_event.sent_by(self.office.clerk)
        if answer.status_code != 202:
            return f"refused with {status_and_code(answer)}"
        self._first_execution = answer.json()["executionId"]
        return case.ended(self._first_execution)

    def _repeat(self) -> str:
        assert self._first_event is not None, "a step before has sent it"
        calls = len(self.office.doubles.calls("/clientes/CLI-71"))
        answer = self._first_event.sent_by(self.office.clerk)
        if answer.status_code != 202:
            return f"refused with {status_and_code(answer)}"
        if answer.json()["executionId"] != self._first_execution:
            return "another execution"
        again = len(self.office.doubles.calls("/clientes/CLI-71")) - calls
        return f"same execution, {'no' if again == 0 else 'a'} second call"

    def _identification(self) -> str:
        return self._case().register_identification()

    def _bank_statement(self) -> str:
        return self._case().register_bank_statement()

    def _bureau(self) -> str:
        return self._case().consult_bureau()

    def _race(self) -> str:
        case = CreditCase.created(self.office)
        events = [case.event("ASIGNAR_CLIENTE", {"clienteId": client}) for client in ("CLI-70", "CLI-61")]
        answers = _sent_at_once(events, self.office.clerk)
        accepted = [answer for answer in answers if answer.status_code == 202]
        for answer in accepted:
            case.ended(answer.json()["executionId"])
        return " and ".join(sorted(str(answer.status_code) for answer in answers))

    def _kill(self) -> str:
        case = CreditCase.created(self.office)
        case.prepare("CLI-71")
        before = len(self.office.doubles.calls(BUREAU))
        ended = case.ended(self._bureau_call_left_alone(case))
        self._calls_around_the_kill = self.office.doubles.calls(BUREAU)[before:]
        return ended

    def _bureau_call_left_alone(self, case: CreditCase) -> str:
        """Kill the only worker while the bureau holds its call, start another one, and return the execution."""
        victim, *others = self.sandbox.workers
        for other in others:
            self.sandbox.drain_worker(other)
        self.office.doubles.hold_next(BUREAU)
        accepted = case.bureau_event().sent_by(self.office.clerk)
        self.office.patience.until("The call that is held", lambda: self.office.doubles.holding() or None)
        self.sandbox.kill_worker(victim)
        self.office.doubles.release()
        self.sandbox.add_worker()
        return str(accepted.json()["executionId"])

    def _case(self) -> CreditCase:
        """Return the case that the first steps share."""
        if self._shared_case is None:
            self._shared_case = CreditCase.created(self.office)
        return self._shared_case


@frozen
class _Whole:
    """A case of its own, from its creation to its route."""

    office: Office
    client: str

    def __call__(self) -> str:
        case = CreditCase.created(self.office)
        case.prepare(self.client)
        return case.consult_bureau()


def _sent_at_once(events: list[Event], client: ApiClient) -> list[httpx2.Response]:
    barrier = Barrier(len(events))

    def send(event: Event) -> httpx2.Response:
        barrier.wait(timeout=10)
        return event.sent_by(client)

    with ThreadPoolExecutor(len(events)) as threads:
        return list(threads.map(send, events))


def _told(calls: list[dict[str, Any]]) -> str:
    keys = {call["idempotencyKey"] for call in calls}
    effects = sum(call["effectApplied"] for call in calls)
    tokens = [int(call["fencingToken"]) for call in calls]
    fence = "grown" if tokens == sorted(set(tokens)) else "not grown"
    return f"{len(calls)} calls, {len(keys)} key, {effects} effect, fence {fence}"
