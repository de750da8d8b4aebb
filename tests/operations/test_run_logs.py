"""Each line of a run says what it belongs to, from the request that asked for it to the attempt that was made."""

import json
from typing import Any
from uuid import uuid4

from tests.acceptance.credit import CONSENT
from tests.acceptance.flows import scoring
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders


def test_every_line_of_a_run_names_its_request_its_flow_and_who_asked_for_it(
    watched: RunningService, providers: ScriptedProviders
) -> None:
    providers.script("/buro/consultas", {"status": 503})
    analyst, type_key = watched.user(), watched.offer(scoring())
    request = analyst.create(type_key, {"clienteId": "CLI-71"})
    correlation = f"call-{uuid4()}"
    accepted = analyst.call(
        "POST",
        f"/requests/{request}/events",
        {"event": "VALIDAR_BURO", "data": CONSENT},
        headers={"Idempotency-Key": "k", "If-Match": "*", "X-Correlation-Id": correlation},
    )
    execution = accepted.json()["executionId"]
    assert analyst.ended(execution)["status"] == "SUCCEEDED"

    lines = _lines(watched, correlation, count=6)

    told = [(line["event"], line.get("attempt"), line.get("outcome") or line.get("status")) for line in lines]
    assert [each for each in told if each[0] not in ("answered", "event_accepted")] == [
        ("action_attempted", 1, "PROVIDER_UNAVAILABLE"),
        ("execution_ended", 1, "RETRY_WAIT"),
        ("action_attempted", 2, "SUCCEEDED"),
        ("execution_ended", 2, "SUCCEEDED"),
    ]
    about = {"requestId": request, "executionId": execution, "flowKey": type_key, "flowVersion": 1}
    for line in lines:
        if line["event"] != "answered":
            assert about.items() <= line.items()
        if line["event"] not in ("answered", "event_accepted"):
            assert line["seconds"] >= 0
    attempts = [line for line in lines if line["event"] == "action_attempted"]
    assert {(line["actionId"], line["integrationKey"]) for line in attempts} == {("buro", "BURO_CONSULTA")}
    assert len({line["traceId"] for line in lines}) == 1


def test_an_answer_names_what_its_path_names_only_if_there_is_something_by_that_name(
    watched: RunningService,
) -> None:
    analyst = watched.user()
    request = analyst.create(watched.offer(scoring()), {"clienteId": "CLI-71"})
    correlation = f"call-{uuid4()}"
    for path in (f"/requests/{request}", f"/requests/{uuid4()}", "/requests/4711"):
        analyst.call("GET", path, headers={"X-Correlation-Id": correlation})

    told = _lines(watched, correlation, count=3)

    assert [(line["status"], line.get("requestId"), line.get("code")) for line in told] == [
        (200, request, None),
        (404, None, "NOT_FOUND"),
        (404, None, "NOT_FOUND"),
    ]


def _lines(service: RunningService, correlation: str, *, count: int) -> list[dict[str, Any]]:
    """Return the lines of one call: they are written after what they tell of can be seen, so they are waited for."""

    def look() -> list[dict[str, Any]] | None:
        lines = [json.loads(line) for line in service.process.log().splitlines() if line.startswith("{")]
        found = [line for line in lines if line.get("correlationId") == correlation]
        return found if len(found) >= count else None

    return wait_until("the lines of a call", look)
