"""What real processes of the service do: their roles, their end, and what they tell of themselves."""

import os
import signal
from collections.abc import Callable

import httpx2
from tests.acceptance.credit import CONSENT
from tests.acceptance.flows import registering, scoring
from tests.plugins.api_user import code_of
from tests.plugins.execution_evidence import Evidence
from tests.plugins.patience import wait_until
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

type StartWorker = Callable[..., StartedProcess]


def test_an_api_alone_accepts_events_and_runs_none_of_them(api_alone: RunningService) -> None:
    said = api_alone.process.said
    assert (said["ready"], said["worker"]) == (True, False)
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(registering("REGISTRO_CREA")))

    assert analyst.execution(analyst.start(request, "REGISTRAR"))["status"] == "PENDING"


def test_a_worker_alone_finishes_what_it_runs_when_it_is_asked_to_stop(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    analyst, type_key = api_alone.user(), api_alone.offer(registering("REGISTRO_CREA"))
    running, waiting = analyst.create(type_key), analyst.create(type_key)
    providers.hold_next("/registros")
    worker = start_worker(WORKER_CONCURRENCY="1")
    assert (worker.said["apiUrl"], worker.said["worker"]) == (None, True)
    first = analyst.start(running, "REGISTRAR")
    providers.await_held()
    second = analyst.start(waiting, "REGISTRAR")

    os.kill(worker.pid, signal.SIGTERM)
    wait_until("the listener of the worker closing", lambda: _is_closed(worker.said["managementUrl"]))
    assert worker.child.exit_code is None
    providers.release()

    assert worker.ended() == 0
    assert analyst.execution(first)["status"] == "SUCCEEDED"
    assert analyst.execution(second)["status"] == "PENDING"


def test_further_signals_end_a_worker_at_once_and_lose_nothing(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: StartWorker
) -> None:
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(registering("REGISTRO_CREA")))
    providers.hold_next("/registros")
    worker = start_worker()
    execution = analyst.start(request, "REGISTRAR")
    evidence = Evidence(service=api_alone, request_id=request, execution_id=execution)
    providers.await_held()

    # However many come and whenever: the worker ends in order, and not by a signal.
    wait_until("the end of the worker", lambda: _signalled(worker) is not None)
    assert worker.child.exit_code == 0

    # The call was still held: it was given up, and its lease brings it back.
    assert evidence.checkpoints()["escribir"] == ("RUNNING", 1)
    evidence.let_lease_expire()
    start_worker()
    assert analyst.ended(execution)["status"] == "SUCCEEDED"
    assert providers.effects("/registros") == 1


def test_logs_hold_no_personal_data_whatever_happens(
    service: RunningService, providers: ScriptedProviders
) -> None:
    secret = "HUNTER2"
    analyst = service.user(f"persona-{secret}")
    request = analyst.create(service.offer(scoring()), {"clienteId": f"CLI-{secret}"})
    consent = {"consentReference": f"C-{secret}"}
    for answer in (
        {"status": 200, "rawBody": f'{{"score":"{secret}","consultationId":"{secret}"}}'},
        {"status": 200, "rawBody": f"<{secret}>"},
        {"status": 418, "rawBody": secret},
    ):
        providers.script("/buro/consultas", answer)
        assert analyst.run(request, "VALIDAR_BURO", consent)["status"] == "FAILED"
    providers.script(
        "/buro/consultas", {"status": 200, "rawBody": f'{{"score":64,"consultationId":"C-{secret}"}}'}
    )
    last = analyst.run(request, "VALIDAR_BURO", consent)
    assert last["result"]["outcome"] == "M"
    assert code_of(analyst.send(request, "VALIDAR_BURO", {**CONSENT, secret: secret}))[0] == 409
    refused = analyst.try_to_create("NADA", {"curp": secret})
    unreadable = analyst.call(
        "POST", "/requests", f'{{"{secret}":'.encode(), headers={"Idempotency-Key": "k"}
    )
    assert (refused.status_code, unreadable.status_code) == (422, 400)

    log = service.process.log()
    assert last["executionId"] in log
    assert secret not in log
    assert "Traceback" not in log
    assert "Bearer" not in log


def test_metrics_count_what_happened_without_naming_anybody(
    service: RunningService, http: httpx2.Client
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(scoring()), {"clienteId": "CLI-71"})
    execution = analyst.run(request, "VALIDAR_BURO", CONSENT)
    url = service.process.said["managementUrl"]

    # The run is counted after its end can be seen.
    exposed = wait_until("the run being counted", lambda: _exposition(http, url, 'status="SUCCEEDED"'))

    assert "orchestrator_commands_accepted_total" in exposed
    assert 'orchestrator_executions_ended_total{error_code="none",status="SUCCEEDED"}' in exposed
    assert 'integration="BURO_CONSULTA",outcome="SUCCEEDED"' in exposed
    for sample in (
        'orchestrator_commands_accepted_total{command="create_request"}',
        'orchestrator_provider_call_seconds_count{answer="200",endpoint="providers"}',
        'orchestrator_run_seconds_count{status="SUCCEEDED"}',
        'orchestrator_queue_executions{status="RECONCILIATION_REQUIRED"}',
        'orchestrator_circuit_state{endpoint="providers",state="closed"} 1.0',
        "orchestrator_queue_observed 1.0",
        "orchestrator_worker_slots 10.0",
        "orchestrator_executions_claimed_total",
        "orchestrator_execution_due_seconds_count",
        "orchestrator_claim_seconds_count",
        "orchestrator_pool_connections_max 10.0",
    ):
        assert sample in exposed
    for identifier in (request, execution["executionId"], "CLI-71", "analista-1"):
        assert identifier not in exposed


def test_metrics_are_not_served_where_the_api_is(service: RunningService, http: httpx2.Client) -> None:
    assert http.get(f"{service.process.said['apiUrl']}/metrics").status_code == 404
    assert http.get(f"{service.process.said['managementUrl']}/api/v1/requests").status_code == 404


def _signalled(worker: StartedProcess) -> int | None:
    worker.child.ask_to_stop()
    return worker.child.exit_code


def _is_closed(url: str) -> bool:
    try:
        httpx2.get(f"{url}/health/live", trust_env=False)
    except httpx2.HTTPError:
        return True
    return False


def _exposition(http: httpx2.Client, url: str, wanted: str) -> str | None:
    answer = http.get(f"{url}/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return answer.text if wanted in answer.text else None
