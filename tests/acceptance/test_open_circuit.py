"""A provider that keeps failing is left alone: executions wait in the database, burn no attempts, and go on."""

from tests.acceptance.flows import registering
from tests.plugins.api_user import User
from tests.plugins.execution_evidence import Evidence
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

RECORDS = "/registros"


def test_executions_wait_for_an_open_circuit_without_attempts_and_go_on_when_it_closes(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst, type_key = service.user(), service.offer(registering("REGISTRO_FRAGIL"))
    providers.script(RECORDS, {"status": 503, "effect": False, "times": 1000})
    started = [_started(service, analyst, type_key) for _ in range(3)]
    for evidence in started:
        _await_held_back(evidence)
    calls = providers.calls(RECORDS)

    providers.reset()

    for evidence in started:
        ended = analyst.ended(evidence.execution_id)
        assert ended["status"] == "SUCCEEDED"
    calls += providers.calls(RECORDS)
    assert providers.effects(RECORDS) == len(started)
    for evidence in started:
        key = f"{evidence.execution_id}:escribir"
        made = [call for call in calls if call["idempotencyKey"] == key]
        # Every attempt that counts was a call that the provider saw; what was held back counted none.
        assert evidence.checkpoints()["escribir"] == ("SUCCEEDED", len(made))


def test_what_meets_an_open_circuit_leaves_no_start_behind(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst, type_key = service.user(), service.offer(registering("REGISTRO_FRAGIL"))
    providers.script(RECORDS, {"status": 503, "effect": False, "times": 1000})
    first = _started(service, analyst, type_key)
    _await_held_back(first)
    others = [_started(service, analyst, type_key) for _ in range(4)]
    for evidence in others:
        _await_held_back(evidence)
    never_called = [
        evidence
        for evidence in others
        if evidence.execution_id
        not in {str(call["idempotencyKey"]).partition(":")[0] for call in providers.calls(RECORDS)}
    ]
    # One call at a time finds out whether the provider is back, so most of them were never made.
    assert never_called
    for evidence in never_called:
        assert evidence.checkpoints()["escribir"] == ("PENDING", 0)
    providers.reset()
    for evidence in (first, *others):
        assert analyst.ended(evidence.execution_id)["status"] == "SUCCEEDED"


def _started(service: RunningService, analyst: User, type_key: str) -> Evidence:
    request = analyst.create(type_key)
    return Evidence(service=service, request_id=request, execution_id=analyst.start(request, "REGISTRAR"))


def _await_held_back(evidence: Evidence) -> None:
    """Wait until the history tells that an attempt met the open circuit."""
    wait_until("an execution held back", lambda: _held_back(evidence))


def _held_back(evidence: Evidence) -> bool:
    return bool(
        evidence.service.database.execute(
            "SELECT 1 FROM orchestrator.audit_entry"
            " WHERE execution_id = %s AND detail ->> 'errorCode' = 'CIRCUIT_OPEN'",
            evidence.execution_id,
        )
    )
