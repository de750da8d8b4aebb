"""A13 with a probe: a lost payment is looked up in the provider's ledger before an operator is called."""

from collections.abc import Callable

import pytest
from tests.acceptance.flows import askable_compra, registering
from tests.acceptance.purchase import PAYMENTS, paying, stopped_purchase
from tests.plugins.api_user import exact
from tests.plugins.execution_evidence import Evidence
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

LEDGER = "/pagos/autorizaciones/{clave}"

type StartWorker = Callable[[], StartedProcess]


def test_a13_a_lost_payment_that_the_ledger_shows_goes_on_by_itself_with_one_charge(
    service: RunningService, providers: ScriptedProviders
) -> None:
    purchase = paying(service, providers, {"mode": "drop_after_effect"}, askable_compra())

    assert purchase.ended()["result"]["outcome"] == "AUTORIZADO"
    assert purchase.shown()["data"]["pago"] == {"estado": "AUTHORIZED", "autorizacion": "PAG-000001"}
    assert (len(providers.calls(PAYMENTS)), purchase.charges()) == (1, 1)
    (asked,) = providers.calls(LEDGER)
    assert asked["path"] == f"{PAYMENTS}/{purchase.execution_id}:autorizar"
    assert asked["idempotencyKey"] is None
    assert purchase.kinds()[-3:] == ["EVENT_ACCEPTED", "EFFECT_PROBED", "TRANSITION_COMPLETED"]
    exposed = purchase.operator.http.get(f"{service.process.said['managementUrl']}/metrics").text
    counted = 'orchestrator_effect_probe_seconds_count{integration="PAGO_AUTORIZACION",outcome="CONFIRMED"} '
    assert counted in exposed


def test_a13_a_ledger_that_is_late_is_asked_again(
    service: RunningService, providers: ScriptedProviders
) -> None:
    providers.script(LEDGER, {"status": 404}, {"status": 503})
    purchase = paying(service, providers, {"mode": "drop_after_effect"}, askable_compra())

    assert purchase.ended()["result"]["outcome"] == "AUTORIZADO"
    assert (len(providers.calls(PAYMENTS)), purchase.charges()) == (1, 1)
    assert len(providers.calls(LEDGER)) == 3
    assert purchase.kinds().count("EFFECT_PROBED") == 3


def test_a13_a_lost_payment_that_the_ledger_does_not_show_waits_for_an_operator_with_what_was_asked(
    service: RunningService, providers: ScriptedProviders
) -> None:
    purchase = stopped_purchase(service, providers, {"mode": "drop_before_answer"}, askable_compra())

    assert (len(providers.calls(PAYMENTS)), purchase.charges()) == (1, 0)
    shown = exact(purchase.operator.call("GET", f"/admin/executions/{purchase.execution_id}"))
    asked = len(providers.calls(LEDGER))
    assert asked > 1
    assert {**shown["probes"], "askedAt": None} == {
        "actionId": "autorizar",
        "asked": asked,
        "outcome": "NOT_FOUND",
        "askedAt": None,
    }
    # Nothing that was asked takes the decision away from whoever can really know.
    assert shown["admits"] == ["RESUME_WITH_RESULT", "RESUME_EFFECT_ABSENT", "CLOSE_WITHOUT_TRANSITION"]
    listed = exact(purchase.operator.call("GET", "/admin/executions"))["items"]
    assert [each["probes"] for each in listed if each["executionId"] == purchase.execution_id] == [
        shown["probes"]
    ]
    assert purchase.kinds()[-2:] == ["EFFECT_PROBED", "RECONCILIATION_REQUIRED"]


def test_a13_an_answer_that_the_contract_cannot_use_confirms_no_payment(
    service: RunningService, providers: ScriptedProviders
) -> None:
    providers.script(LEDGER, {"status": 200, "body": {"status": "PROCESSING"}, "times": 20})

    purchase = stopped_purchase(service, providers, {"mode": "drop_after_effect"}, askable_compra())

    shown = exact(purchase.operator.call("GET", f"/admin/executions/{purchase.execution_id}"))
    assert shown["probes"]["outcome"] == "CONTRACT_VIOLATION"
    assert purchase.charges() == 1


@pytest.mark.exhaustive
def test_a13_after_a_crash_an_unsafe_effect_that_the_ledger_shows_needs_no_operator(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    evidence = _killed_while_held(api_alone, providers, start_worker, PAYMENTS)
    start_worker()

    assert api_alone.user().ended(evidence.execution_id)["status"] == "SUCCEEDED"
    assert (len(providers.calls(PAYMENTS)), providers.effects(PAYMENTS)) == (1, 1)
    assert evidence.checkpoints()["escribir"] == ("SUCCEEDED", 1)


@pytest.mark.exhaustive
def test_a13_a_worker_that_dies_while_it_asks_leaves_the_question_to_the_next_one(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    providers.script(PAYMENTS, {"mode": "drop_after_effect"})
    evidence = _killed_while_held(api_alone, providers, start_worker, LEDGER)
    assert evidence.checkpoints()["escribir"] == ("UNKNOWN", 1)
    start_worker()

    assert api_alone.user().ended(evidence.execution_id)["status"] == "SUCCEEDED"
    assert (len(providers.calls(PAYMENTS)), providers.effects(PAYMENTS)) == (1, 1)
    assert len(providers.calls(LEDGER)) == 2
    assert evidence.kinds() == [
        "REQUEST_CREATED",
        "EVENT_ACCEPTED",
        "EFFECT_PROBED",
        "TRANSITION_COMPLETED",
    ]


def _killed_while_held(
    service: RunningService, providers: ScriptedProviders, start_worker: StartWorker, path: str
) -> Evidence:
    """Kill a worker whose call to a path waits for its answer, and let its lease run out."""
    analyst = service.user()
    request = analyst.create(service.offer(registering("PAGO_CONSULTABLE")))
    providers.hold_next(path)
    worker = start_worker()
    evidence = Evidence(service=service, request_id=request, execution_id=analyst.start(request, "REGISTRAR"))
    providers.await_held()
    worker.child.kill()
    evidence.let_lease_expire()
    return evidence
