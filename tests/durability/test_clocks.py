"""The clocks of processes decide nothing: workers ten minutes ahead and behind share a queue as any others do."""

from collections.abc import Callable
from pathlib import Path

from tests.acceptance.flows import registering
from tests.plugins.execution_evidence import Evidence
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

RECORDS = "/registros"
# Python runs a module of this name before anything else.
SHIFTED_CLOCK = """
import datetime, os, time
shift = float(os.environ["PYTHON_CLOCK_SHIFT_SECONDS"])
true_time, true_time_ns, true_datetime = time.time, time.time_ns, datetime.datetime
time.time = lambda: true_time() + shift
time.time_ns = lambda: true_time_ns() + int(shift * 1e9)
class ShiftedDatetime(true_datetime):
    @classmethod
    def now(cls, tz=None):
        return true_datetime.now(tz) + datetime.timedelta(seconds=shift)
datetime.datetime = ShiftedDatetime
"""


def test_workers_with_clocks_that_are_wrong_keep_leases_and_retries_as_they_are(
    api_alone: RunningService,
    providers: ScriptedProviders,
    start_worker: Callable[..., StartedProcess],
    tmp_path: Path,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SHIFTED_CLOCK)
    analyst, type_key = api_alone.user(), api_alone.offer(registering("REGISTRO_CREA"))
    first, *others = [analyst.create(type_key) for _ in range(5)]
    providers.hold_next(RECORDS)
    providers.script(RECORDS, {"status": 503, "effect": False, "times": 2})
    start_worker(PYTHONPATH=str(tmp_path), PYTHON_CLOCK_SHIFT_SECONDS="-600", WORKER_CONCURRENCY="1")
    execution = analyst.start(first, "REGISTRAR")
    providers.await_held()
    ahead = start_worker(PYTHONPATH=str(tmp_path), PYTHON_CLOCK_SHIFT_SECONDS="600")

    ended = [analyst.run(other, "REGISTRAR") for other in others]

    # Whoever is ahead has had every chance to take the lease for expired, and to find retries due too soon.
    evidence = Evidence(service=api_alone, request_id=first, execution_id=execution)
    assert {each["status"] for each in ended} == {"SUCCEEDED"}
    assert evidence.everything()["execution"][0]["fencing_token"] == 1
    providers.release()
    assert analyst.ended(execution)["status"] == "SUCCEEDED"
    assert len(providers.calls(RECORDS)) == 5 + 2
    assert providers.effects(RECORDS) == 5
    assert _oldest_write_seconds(evidence) < 300
    assert ahead.end() == 0


def _oldest_write_seconds(evidence: Evidence) -> float:
    """Return how far any moment that the run has stored is from the database's present."""
    rows = evidence.everything()
    moments = [rows["request"][0]["updated_at"], rows["execution"][0]["updated_at"]]
    moments += [entry["created_at"] for entry in rows["history"]]
    moments += [action["finished_at"] for action in rows["actions"]]
    now = evidence.service.database.execute("SELECT clock_timestamp()")[0][0]
    return float(max(abs((now - moment).total_seconds()) for moment in moments))
