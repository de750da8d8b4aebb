"""A12 a worker dies during an execution; A13 it dies after an external effect."""

from collections.abc import Callable

import pytest
from tests.acceptance.flows import registering
from tests.plugins.api_user import code_of
from tests.plugins.execution_evidence import LOOKUP, Evidence
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

RECORDS = "/registros"
PAYMENTS = "/pagos/autorizaciones"

type StartWorker = Callable[[], StartedProcess]


def _killed_while_held(
    service: RunningService,
    providers: ScriptedProviders,
    start_worker: StartWorker,
    path: str,
    key: str,
    *,
    effect: bool,
) -> Evidence:
    """Kill a worker whose call waits for its answer, and start another one when the lease is over."""
    analyst = service.user()
    request = analyst.create(service.offer(registering(key)))
    providers.hold_next(path, effect=effect)
    worker = start_worker()
    evidence = Evidence(service=service, request_id=request, execution_id=analyst.start(request, "REGISTRAR"))
    providers.await_held()
    worker.child.kill()
    assert analyst.execution(evidence.execution_id)["status"] == "RUNNING"
    assert evidence.checkpoints() == {"consultar": ("SUCCEEDED", 1), "escribir": ("RUNNING", 1)}
    evidence.let_lease_expire()
    start_worker()
    return evidence


def test_a12_an_execution_goes_on_from_its_checkpoint_when_its_worker_is_killed(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    evidence = _killed_while_held(api_alone, providers, start_worker, RECORDS, "REGISTRO_CREA", effect=False)
    analyst, execution = api_alone.user(), evidence.execution_id

    ended = analyst.ended(execution)

    assert (ended["status"], analyst.shown(evidence.request_id)["state"]) == ("SUCCEEDED", "REGISTRADA")
    # What had succeeded is not repeated; what was under way is, under its key and a higher token.
    assert len(providers.calls(LOOKUP)) == 1
    first, second = providers.calls(RECORDS)
    assert first["idempotencyKey"] == second["idempotencyKey"] == f"{execution}:escribir"
    assert int(second["fencingToken"]) > int(first["fencingToken"])
    assert evidence.kinds() == ["REQUEST_CREATED", "EVENT_ACCEPTED", "TRANSITION_COMPLETED"]


def test_a13_after_a_crash_an_idempotent_provider_has_one_effect(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    evidence = _killed_while_held(api_alone, providers, start_worker, RECORDS, "REGISTRO_CREA", effect=True)

    ended = api_alone.user().ended(evidence.execution_id)

    assert ended["status"] == "SUCCEEDED"
    assert len(providers.calls(RECORDS)) == 2
    assert providers.effects(RECORDS) == 1
    assert api_alone.user().shown(evidence.request_id)["data"] == {"escrito": {"recordId": "REG-000001"}}


def test_a13_after_a_crash_an_unsafe_effect_is_not_repeated_and_waits_for_an_operator(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    evidence = _killed_while_held(api_alone, providers, start_worker, PAYMENTS, "PAGO_AUTORIZA", effect=True)
    analyst = api_alone.user()

    ended = analyst.ended(evidence.execution_id)

    assert (ended["status"], ended["errorCode"]) == ("RECONCILIATION_REQUIRED", "EFFECT_UNKNOWN")
    assert evidence.checkpoints() == {"consultar": ("SUCCEEDED", 1), "escribir": ("UNKNOWN", 1)}
    assert len(providers.calls(PAYMENTS)) == 1
    seen = analyst.shown(evidence.request_id)
    assert (seen["state"], seen["data"]) == ("ABIERTA", {})
    assert seen["activeExecutionId"] == evidence.execution_id
    assert code_of(analyst.send(evidence.request_id, "REGISTRAR")) == (409, "REQUEST_BUSY")
    assert evidence.kinds() == ["REQUEST_CREATED", "EVENT_ACCEPTED", "RECONCILIATION_REQUIRED"]


@pytest.mark.parametrize(
    ("failure", "calls", "effects", "status"),
    [
        ({"mode": "drop_after_effect"}, 1, 1, "RECONCILIATION_REQUIRED"),
        ({"mode": "truncated"}, 1, 1, "RECONCILIATION_REQUIRED"),
        ({"status": 503, "effect": False}, 1, 0, "RECONCILIATION_REQUIRED"),
        ({"status": 500, "effect": True}, 1, 1, "RECONCILIATION_REQUIRED"),
        ({"status": 201, "rawBody": "{}"}, 1, 1, "RECONCILIATION_REQUIRED"),
        ({"status": 422, "effect": False}, 1, 0, "FAILED"),
    ],
    ids=["dropped", "cut-off", "unavailable", "failed", "unreadable", "refused"],
)
def test_a13_an_unsafe_call_is_made_once_whatever_comes_back(
    service: RunningService,
    providers: ScriptedProviders,
    failure: dict[str, object],
    calls: int,
    effects: int,
    status: str,
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering("PAGO_AUTORIZA")))
    providers.script(PAYMENTS, failure)

    ended = analyst.run(request, "REGISTRAR")

    assert ended["status"] == status
    assert (len(providers.calls(PAYMENTS)), providers.effects(PAYMENTS)) == (calls, effects)
    assert (analyst.shown(request)["state"], analyst.shown(request)["data"]) == ("ABIERTA", {})


def test_a13_an_answer_lost_by_an_idempotent_provider_is_asked_for_again(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering("REGISTRO_CREA")))
    providers.script(RECORDS, {"mode": "drop_after_effect", "times": 2})

    ended = analyst.run(request, "REGISTRAR")

    assert (ended["status"], len(providers.calls(RECORDS)), providers.effects(RECORDS)) == ("SUCCEEDED", 3, 1)


def test_a13_an_idempotent_write_that_stays_uncertain_waits_for_an_operator(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering("REGISTRO_CREA")))
    providers.script(RECORDS, {"mode": "drop_after_effect", "times": 5})

    ended = analyst.run(request, "REGISTRAR")

    assert (ended["status"], ended["errorCode"]) == ("RECONCILIATION_REQUIRED", "PROVIDER_TIMEOUT")
    assert len(providers.calls(RECORDS)) == 3
