"""A14 two workers and a lease that has run out; A12 no event is lost while there is no worker."""

import os
import signal
from collections.abc import Callable
from typing import Any

from tests.acceptance.flows import registering
from tests.plugins.execution_evidence import LOOKUP, Evidence
from tests.plugins.patience import wait_until
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

RECORDS = "/registros"


def test_a14_a_worker_that_wakes_up_after_its_lease_writes_nothing(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: Callable[[], StartedProcess]
) -> None:
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(registering("REGISTRO_CREA")))
    providers.hold_next(RECORDS)
    stale = start_worker()
    execution = analyst.start(request, "REGISTRAR")
    evidence = Evidence(service=api_alone, request_id=request, execution_id=execution)
    providers.await_held()
    os.kill(stale.pid, signal.SIGSTOP)
    # Its answer arrives while it sleeps, and waits for it.
    providers.release()
    providers.hold_next(RECORDS)
    evidence.let_lease_expire()
    start_worker()
    providers.await_held()
    before = _but_for_renewals(evidence)

    os.kill(stale.pid, signal.SIGCONT)
    wait_until("the stale worker noticing", lambda: '"lease_lost"' in stale.log())

    assert stale.end() == 0
    assert _but_for_renewals(evidence) == before
    providers.release()
    assert analyst.ended(execution)["status"] == "SUCCEEDED"
    assert evidence.kinds() == ["REQUEST_CREATED", "EVENT_ACCEPTED", "TRANSITION_COMPLETED"]
    assert (analyst.shown(request)["state"], analyst.shown(request)["revision"]) == ("REGISTRADA", 2)
    assert len(providers.calls(LOOKUP)) == 1
    assert providers.effects(RECORDS) == 1


def test_a12_a14_events_from_before_any_worker_are_shared_by_two_and_run_once_each(
    api_alone: RunningService, providers: ScriptedProviders, start_worker: Callable[[], StartedProcess]
) -> None:
    analyst, type_key = api_alone.user(), api_alone.offer(registering("PAGO_AUTORIZA"))
    requests = [analyst.create(type_key) for _ in range(12)]
    executions = [analyst.start(request, "REGISTRAR") for request in requests]
    assert {analyst.execution(execution)["status"] for execution in executions} == {"PENDING"}
    start_worker()
    start_worker()

    assert [analyst.ended(execution)["status"] for execution in executions] == ["SUCCEEDED"] * 12

    assert len(providers.calls("/pagos/autorizaciones")) == 12
    assert len(providers.calls(LOOKUP)) == 12
    assert {analyst.shown(request)["revision"] for request in requests} == {2}


def _but_for_renewals(evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    """Return every row that a run may write, without the end of the lease that its owner keeps moving."""
    seen = evidence.everything()
    for execution in seen["execution"]:
        del execution["lease_until"]
    return seen
