"""Many at once: nothing is lost, nothing happens twice, whoever leaves and whenever."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.acceptance.flows import credito, registering
from tests.durability.struck_runs import SinceTheClaim
from tests.plugins.api_user import code_of, exact
from tests.plugins.execution_evidence import Evidence
from tests.plugins.fault_points import chosen
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import Side, StatementProxy, Strike

PAYMENTS = "/pagos/autorizaciones"
MOMENTS = range(1, 80)


def test_a_worker_that_is_stopped_at_any_moment_under_load_loses_nothing_and_repeats_nothing(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
) -> None:
    (moment,) = chosen("SIGTERM", MOMENTS, 1)
    require_nothing_lost(api_alone, providers, fork_worker, statement_proxy, moment)


@pytest.mark.exhaustive
@pytest.mark.parametrize("moment", MOMENTS[::8])
def test_a_worker_that_is_stopped_at_many_moments_under_load_loses_nothing_and_repeats_nothing(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
    moment: int,
) -> None:
    require_nothing_lost(api_alone, providers, fork_worker, statement_proxy, moment)


def require_nothing_lost(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
    moment: int,
) -> None:
    """Ask one of two workers to leave when it is about to send so many statements."""
    analyst, type_key = api_alone.user(), api_alone.offer(registering("PAGO_AUTORIZA"))
    requests = [analyst.create(type_key) for _ in range(40)]
    # Slow enough for the signal to arrive in the middle of several calls.
    providers.script(PAYMENTS, {"delayMs": 50, "times": 40})
    statement_proxy.begin(SinceTheClaim(), Strike(number=moment, side=Side.BEFORE))
    executions = [analyst.start(request, "REGISTRAR") for request in requests]
    leaving = fork_worker(WORKER_CONCURRENCY="4", DATABASE_URL=statement_proxy.url)
    statement_proxy.await_strike()
    staying = fork_worker(WORKER_CONCURRENCY="4")

    os.kill(leaving.pid, signal.SIGTERM)
    statement_proxy.go_on()

    ended = [analyst.ended(execution) for execution in executions]
    assert Counter(each["status"] for each in ended) == {"SUCCEEDED": 40}
    assert len(providers.calls(PAYMENTS)) == providers.effects(PAYMENTS) == 40
    assert leaving.ended() == 0
    assert '"lease_lost"' not in leaving.log() + staying.log()


def test_acceptances_and_completions_of_one_request_interleave_without_a_gap(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(credito()))

    def send(number: int) -> httpx2.Response:
        # A client who does not exist keeps the state, so that the next event is as good as this one.
        return analyst.send(request, "ASIGNAR_CLIENTE", {"clienteId": f"NADIE-{number}"}, tag="*")

    with ThreadPoolExecutor(max_workers=6) as pool:
        answers = list(pool.map(send, range(90)))

    accepted = [exact(answer)["executionId"] for answer in answers if answer.status_code == 202]
    refused = {code_of(answer) for answer in answers if answer.status_code != 202}
    assert refused <= {(409, "REQUEST_BUSY")}
    assert len(accepted) > 1
    assert {analyst.ended(execution)["status"] for execution in accepted} == {"SUCCEEDED"}
    assert analyst.shown(request)["revision"] == 2 * len(accepted)
    evidence = Evidence(service=service, request_id=request, execution_id=accepted[-1])
    assert evidence.kinds() == ["REQUEST_CREATED"] + ["EVENT_ACCEPTED", "TRANSITION_COMPLETED"] * len(
        accepted
    )
    assert len(providers.calls("/clientes/{clienteId}")) == len(accepted)
