"""A13 with its end: the answer to a payment is lost, and an operator says what was verified."""

import pytest
from tests.acceptance.purchase import PAYMENTS, Purchase, stopped_purchase
from tests.plugins.api_user import code_of, exact
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

CONFIRMED = {"resolution": "RESUME_WITH_RESULT"}
ABSENT = {"resolution": "RESUME_EFFECT_ABSENT"}
CLOSED = {"resolution": "CLOSE_WITHOUT_TRANSITION"}


@pytest.fixture
def charged(service: RunningService, providers: ScriptedProviders) -> Purchase:
    """A purchase that was charged, and whose answer was lost."""
    return stopped_purchase(service, providers, {"mode": "drop_after_effect"})


@pytest.fixture
def uncharged(service: RunningService, providers: ScriptedProviders) -> Purchase:
    """A purchase that was never charged, which nobody but the provider knows."""
    return stopped_purchase(service, providers, {"mode": "drop_before_answer"})


def test_a13_a_payment_whose_answer_is_lost_is_found_by_an_operator_and_finished_with_one_charge(
    charged: Purchase,
) -> None:
    listed = exact(charged.operator.call("GET", "/admin/executions?status=RECONCILIATION_REQUIRED"))
    (case,) = [one for one in listed["items"] if one["executionId"] == charged.execution_id]
    assert case["stoppedAction"]["externalKey"] == f"{charged.execution_id}:autorizar"
    assert case["stoppedAction"]["effect"] == "NON_IDEMPOTENT_WRITE"
    (call,) = charged.providers.calls(PAYMENTS)
    assert call["idempotencyKey"] == case["stoppedAction"]["externalKey"]

    result = {"status": "AUTHORIZED", "authorizationId": "PAG-000001"}
    resolved = charged.resolve({**CONFIRMED, "result": result})

    assert (resolved.status_code, exact(resolved)["status"]) == (200, "PENDING")
    assert charged.ended()["result"] == {
        "outcome": "AUTORIZADO",
        "fromState": "PAGO_PENDIENTE",
        "toState": "PAGADA",
    }
    assert charged.shown()["data"]["pago"] == {"estado": "AUTHORIZED", "autorizacion": "PAG-000001"}
    assert charged.charges() == 1
    assert charged.kinds()[-3:] == [
        "RECONCILIATION_REQUIRED",
        "RECONCILIATION_RESOLVED",
        "TRANSITION_COMPLETED",
    ]


def test_a13_a_payment_that_verifiably_never_happened_is_asked_for_again_under_its_key(
    uncharged: Purchase,
) -> None:
    assert uncharged.resolve(ABSENT).status_code == 200

    assert uncharged.ended()["status"] == "SUCCEEDED"
    first, second = uncharged.providers.calls(PAYMENTS)
    assert first["idempotencyKey"] == second["idempotencyKey"]
    assert int(second["fencingToken"]) > int(first["fencingToken"])
    assert uncharged.charges() == 1


def test_a13_a_payment_that_was_taken_back_is_closed_and_leaves_the_purchase_as_it_was(
    charged: Purchase,
) -> None:
    before = charged.shown()

    closed = exact(charged.resolve(CLOSED))

    assert (closed["status"], closed["errorCode"]) == ("FAILED", "CLOSED_WITHOUT_TRANSITION")
    after = charged.shown()
    assert (after["state"], after["data"]) == (before["state"], before["data"])
    assert (after["revision"], after["activeExecutionId"]) == (before["revision"] + 1, None)
    assert charged.cashier.run(charged.request_id, "CANCELAR")["result"]["toState"] == "CANCELADA"
    assert charged.charges() == 1


def test_a13_a_resolution_is_made_once_and_its_repetition_changes_nothing(charged: Purchase) -> None:
    first = exact(charged.resolve(CLOSED))

    again = charged.resolve(CLOSED)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert exact(again) == first
    assert code_of(charged.resolve(ABSENT)) == (409, "IDEMPOTENCY_CONFLICT")
    assert code_of(charged.resolve(ABSENT, key="resolve-2")) == (409, "EXECUTION_NOT_RESOLVABLE")
    assert charged.kinds().count("RECONCILIATION_RESOLVED") == 1
    assert charged.charges() == 1


def test_a13_what_was_verified_of_one_stop_charges_nobody_at_a_later_one_of_the_same_action(
    uncharged: Purchase,
) -> None:
    # Two operators find that nothing was charged. One says so at once; then the payment happens, and its answer is lost.
    uncharged.providers.script(PAYMENTS, {"mode": "drop_after_effect"})
    assert uncharged.resolve(ABSENT, key="at-once").status_code == 200
    stopped_anew = uncharged.waiting()
    assert (stopped_anew.ended()["errorCode"], stopped_anew.charges()) == ("PROVIDER_TIMEOUT", 1)

    late = uncharged.resolve(ABSENT, key="late")

    assert code_of(late) == (409, "EXECUTION_NOT_RESOLVABLE")
    assert exact(late)["pointer"] == "/stop"
    result = {"status": "AUTHORIZED", "authorizationId": "PAG-000001"}
    assert stopped_anew.resolve({**CONFIRMED, "result": result}, key="verified-anew").status_code == 200
    assert stopped_anew.ended()["status"] == "SUCCEEDED"
    assert stopped_anew.charges() == 1
    assert stopped_anew.kinds().count("RECONCILIATION_RESOLVED") == 2


def test_a13_a_result_that_breaks_the_contract_is_refused_and_the_purchase_stays_blocked(
    charged: Purchase,
) -> None:
    refused = charged.resolve({**CONFIRMED, "result": {"status": "AUTHORIZED"}})

    assert code_of(refused) == (422, "SCHEMA_VIOLATION")
    assert code_of(charged.cashier.send(charged.request_id, "CANCELAR")) == (409, "REQUEST_BUSY")


def test_a13_a15_operators_of_other_scopes_and_cashiers_resolve_nothing(charged: Purchase) -> None:
    elsewhere = charged.service.user("operador-2", roles=("EXECUTION_OPERATOR",), scopes=("SUCURSAL-2",))
    assert code_of(charged.resolve(CLOSED, operator=elsewhere)) == (404, "NOT_FOUND")
    assert code_of(charged.resolve(CLOSED, operator=charged.cashier)) == (403, "ACCESS_DENIED")
    assert exact(elsewhere.call("GET", "/admin/executions"))["items"] == []
    assert charged.ended()["status"] == "RECONCILIATION_REQUIRED"
