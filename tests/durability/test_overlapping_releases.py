"""Two releases run on one database during a deployment: the older one lacks an integration and can't read a newer flow."""

import json
from collections import Counter
from pathlib import Path

from tests.durability.fault_flows import EffectClass, acting_twice
from tests.durability.struck_runs import worker_settings
from tests.plugins.execution_evidence import Evidence
from tests.plugins.forked_process import WarmStart
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.trial_catalogue import trial_catalogue

_SENT = 6


def test_what_only_the_newer_release_can_run_waits_for_it_and_everything_is_done_once(
    api_alone: RunningService, providers: ScriptedProviders, warm_start: WarmStart, tmp_path: Path
) -> None:
    newer_type = api_alone.offer(acting_twice(EffectClass.NON_IDEMPOTENT_WRITE))
    shared_type = api_alone.offer(acting_twice(EffectClass.IDEMPOTENT_WRITE))
    older = warm_start.launch(
        worker_settings(
            api_alone,
            WORKER_CONCURRENCY="4",
            INTEGRATION_CATALOGUE=str(_older_catalogue(tmp_path)),
            UNKNOWN_FLOW_KEY=newer_type,
        ),
        release="tests.durability.old_release",
    )
    newer_ones = [_sent(api_alone, newer_type) for _ in range(_SENT)]
    wait_until("the older release to put aside what it can't read", lambda: _put_aside(api_alone) == _SENT)
    assert providers.every_call() == []

    newer = warm_start.launch(worker_settings(api_alone, WORKER_CONCURRENCY="4"))
    shared = [_sent(api_alone, shared_type) for _ in range(_SENT)]
    api_alone.database.execute(_LET_WAITS_END)
    shared += [_sent(api_alone, shared_type) for _ in range(_SENT)]
    assert older.end() == 0
    api_alone.database.execute(_LET_WAITS_END)

    everything = [*newer_ones, *shared]
    ended = [api_alone.user().ended(each.execution_id)["status"] for each in everything]
    assert ended == ["SUCCEEDED"] * len(everything)
    calls = Counter(str(call["idempotencyKey"]) for call in providers.every_call())
    assert calls == {
        f"{each.execution_id}:{action}": 1 for each in everything for action in ("first", "second")
    }
    assert all(each.kinds()[-1] == "TRANSITION_COMPLETED" for each in everything)
    assert '"lease_lost"' not in older.log() + newer.log()
    assert "execution_ended" in newer.log()
    api_alone.room.end(newer)


def _older_catalogue(directory: Path) -> Path:
    """Write the catalogue of a deployment that doesn't know yet what the newer flow calls."""
    catalogue = trial_catalogue()
    newer = EffectClass.NON_IDEMPOTENT_WRITE.value
    catalogue["integrations"] = [
        each for each in catalogue["integrations"] if each["integrationKey"] != newer
    ]
    file = directory / "older-catalogue.json"
    file.write_text(json.dumps(catalogue))
    return file


def _sent(service: RunningService, type_key: str) -> Evidence:
    analyst = service.user()
    request = analyst.create(type_key)
    execution = analyst.start(request, "REGISTRAR")
    return Evidence(service=service, request_id=request, execution_id=execution)


def _put_aside(service: RunningService) -> int:
    waiting = "SELECT count(*) FROM orchestrator.execution WHERE status = 'RETRY_WAIT' AND error_code = %s"
    return int(service.database.execute(waiting, "FLOW_UNREADABLE")[0][0])


_LET_WAITS_END = """
UPDATE orchestrator.execution SET next_attempt_at = clock_timestamp() WHERE status = 'RETRY_WAIT'
"""
