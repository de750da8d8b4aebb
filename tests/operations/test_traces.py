"""One trace from the client's request through the queue to the provider, whoever records it."""

from typing import Any
from uuid import uuid4

import pytest
from tests.acceptance.credit import CONSENT
from tests.acceptance.flows import scoring
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.trace_collector import TraceCollector

BUREAU = "/buro/consultas"


def test_one_trace_leads_from_the_client_through_the_queue_to_the_provider(
    watched: RunningService, providers: ScriptedProviders, collector: TraceCollector
) -> None:
    trace, caller = uuid4().hex, uuid4().hex[:16]
    providers.script(BUREAU, {"status": 503}, {"status": 200, "rawBody": '{"score":64,"consultationId":"C"}'})

    execution = _run(watched, headers={"traceparent": f"00-{trace}-{caller}-01"})

    request = collector.named("POST /api/v1/requests/{requestId}/events", of_trace=trace)
    acceptance = collector.named("accept event", of_trace=trace)
    assert request.parent == caller
    assert acceptance.parent == request.id
    assert acceptance.attributes["orchestrator.execution.id"] == execution["executionId"]
    # Two runs, each an own claim: the first one's attempt was answered by 503, and the retry belongs to the trace too.
    first, second = providers.calls(BUREAU)
    for call, status, ending in ((first, 503, "RETRY_WAIT"), (second, 200, "SUCCEEDED")):
        _, told_trace, told_span, flags = call["headers"]["traceparent"].split("-")
        assert (told_trace, flags) == (trace, "01")
        calling, attempt, run = _upwards(collector, trace, told_span, 3)
        assert (calling.name, calling.attributes["http.response.status_code"]) == ("POST providers", status)
        assert attempt.name == "attempt INVOKE_INTEGRATION"
        assert attempt.attributes["orchestrator.integration.key"] == "BURO_CONSULTA"
        assert (run.name, run.parent) == ("run execution", acceptance.id)
        assert run.attributes["orchestrator.execution.status"] == ending
        assert run.attributes["orchestrator.flow.version"] == 1


def test_without_a_trace_of_the_client_one_begins_with_the_request(
    watched: RunningService, providers: ScriptedProviders, collector: TraceCollector
) -> None:
    _run(watched)
    (call,) = providers.calls(BUREAU)
    trace = call["headers"]["traceparent"].split("-")[1]
    assert collector.named("POST /api/v1/requests/{requestId}/events", of_trace=trace).parent == ""


@pytest.mark.parametrize(
    "sent",
    [
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-and-a-word-more",
        "Juana Pérez, 4711",
    ],
)
def test_a_place_in_a_trace_that_is_none_is_not_taken(
    watched: RunningService, providers: ScriptedProviders, sent: str
) -> None:
    _run(watched, headers={"traceparent": sent.encode()})
    (call,) = providers.calls(BUREAU)
    assert call["headers"]["traceparent"].split("-")[1] not in sent.lower()


def test_where_nothing_is_recorded_the_trace_of_the_client_is_passed_on_as_it_came_and_nothing_else_is(
    service: RunningService, providers: ScriptedProviders
) -> None:
    place = f"00-{uuid4().hex}-{uuid4().hex[:16]}-00"
    others = {"tracestate": "vendor=secret", "baggage": "customer=4711"}
    _run(service, headers={"traceparent": place, **others})
    _run(service)
    with_trace, without = providers.calls(BUREAU)
    assert with_trace["headers"]["traceparent"] == place
    assert "traceparent" not in without["headers"]
    assert not {"tracestate", "baggage"} & {*with_trace["headers"], *without["headers"]}


def test_the_place_in_a_trace_is_shown_to_nobody_and_a_repetition_from_another_place_is_one(
    watched: RunningService,
) -> None:
    analyst, auditor = watched.user(), watched.user(roles=("AUDITOR",))
    request = analyst.create(watched.offer(scoring()), {"clienteId": "CLI-71"})
    places = [f"00-{uuid4().hex}-{uuid4().hex[:16]}-01" for _ in range(2)]
    body = {"event": "VALIDAR_BURO", "data": CONSENT}
    first, second = (
        analyst.call(
            "POST",
            f"/requests/{request}/events",
            body,
            headers={"Idempotency-Key": "once", "If-Match": "*", "traceparent": place},
        ).json()
        for place in places
    )
    assert first["executionId"] == second["executionId"]
    analyst.ended(first["executionId"])

    shown = [
        analyst.call("GET", f"/executions/{first['executionId']}"),
        analyst.call("GET", f"/requests/{request}"),
        auditor.call("GET", f"/requests/{request}/history"),
    ]
    assert [answer.status_code for answer in shown] == [200, 200, 200]
    for place in places:
        assert not [answer for answer in shown if place.split("-")[1] in answer.text]
    kept = watched.database.execute(
        "SELECT actor_snapshot ->> 'traceParent' FROM orchestrator.execution WHERE id = %s",
        [first["executionId"]],
    )
    assert kept[0][0].split("-")[1] == places[0].split("-")[1]


def _run(service: RunningService, headers: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run one event with a call to a provider, sent with these headers."""
    analyst = service.user()
    request = analyst.create(service.offer(scoring()), {"clienteId": "CLI-71"})
    lines = {"Idempotency-Key": str(uuid4()), "If-Match": "*", **(headers or {})}
    body = {"event": "VALIDAR_BURO", "data": CONSENT}
    accepted = analyst.call("POST", f"/requests/{request}/events", body, headers=lines)
    assert accepted.status_code == 202, accepted.text
    ended = analyst.ended(accepted.json()["executionId"])
    assert ended["status"] == "SUCCEEDED"
    return ended


def _upwards(collector: TraceCollector, trace: str, span_id: str, count: int) -> list[Any]:
    """Return a span and those above it."""
    found: list[Any] = []
    for _ in range(count):
        found.append(collector.with_id(span_id, of_trace=trace))
        span_id = found[-1].parent
    return found
