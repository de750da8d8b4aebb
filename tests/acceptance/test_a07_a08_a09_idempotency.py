"""A07 an event repeated under its key; A08 a key used for another command; A09 two events at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.acceptance.credit import APPLICANT, CreditRequest
from tests.acceptance.flows import credito, registering
from tests.plugins.api_user import code_of, exact
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

ROUNDS = 20


def test_a07_a_repeated_event_is_the_same_execution_and_has_one_effect(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering("REGISTRO_CREA")))
    key, tag = str(uuid4()), analyst.tag(request)
    first = analyst.send(request, "REGISTRAR", key=key, tag=tag)
    during = analyst.send(request, "REGISTRAR", key=key, tag=tag)
    analyst.ended(exact(first)["executionId"])

    # The revision has moved on, and the state has no such event any more.
    after = analyst.send(request, "REGISTRAR", key=key, tag=tag)

    assert [answer.status_code for answer in (first, during, after)] == [202, 202, 202]
    assert len({exact(answer)["executionId"] for answer in (first, during, after)}) == 1
    assert [answer.headers.get("Idempotent-Replayed") for answer in (first, during, after)] == [
        None,
        "true",
        "true",
    ]
    assert exact(after)["status"] == "SUCCEEDED"
    assert len(providers.calls("/registros")) == 1
    assert providers.effects("/registros") == 1


def test_a07_a_creation_repeated_under_its_key_is_the_same_request(
    service: RunningService, credit_type: str
) -> None:
    analyst, key = service.user(), str(uuid4())

    first = analyst.try_to_create(credit_type, {"montoSolicitado": 1}, key=key)
    again = analyst.try_to_create(credit_type, {"montoSolicitado": Decimal("1.0")}, key=key)
    other = analyst.try_to_create(credit_type, {"montoSolicitado": 2}, key=key)

    assert (first.status_code, again.status_code) == (201, 201)
    assert exact(first)["requestId"] == exact(again)["requestId"]
    assert code_of(other) == (409, "IDEMPOTENCY_CONFLICT")


@pytest.mark.parametrize(
    ("event", "data", "tag"),
    [
        ("ASIGNAR_CLIENTE", {"clienteId": "CLI-70"}, None),
        ("REGISTRAR_INE", {"clienteId": "CLI-71"}, None),
        ("ASIGNAR_CLIENTE", {"clienteId": "CLI-71"}, "*"),
    ],
    ids=["other-data", "other-event", "other-precondition"],
)
def test_a08_a_key_of_another_command_is_a_conflict_that_changes_nothing(
    credit: CreditRequest, event: str, data: dict[str, Any], tag: str | None
) -> None:
    key, first_tag = str(uuid4()), credit.analyst.tag(credit.id)
    first = credit.analyst.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"}, key=key, tag=first_tag)
    credit.analyst.ended(exact(first)["executionId"])
    before = credit.shown()

    refused = credit.analyst.send(credit.id, event, data, key=key, tag=tag or first_tag)

    assert code_of(refused) == (409, "IDEMPOTENCY_CONFLICT")
    assert credit.shown() == before


def test_a09_of_two_events_at_once_exactly_one_is_accepted(
    api_alone: RunningService, providers: ScriptedProviders
) -> None:
    type_key = api_alone.offer(credito())
    seen: Counter[tuple[int, str]] = Counter()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for number in range(ROUNDS):
            credit = CreditRequest.created(api_alone, providers, type_key)
            tag = "*" if number % 2 else credit.analyst.tag(credit.id)
            first, second = _both_at_once(pool, credit, tag)
            assert {first.status_code, second.status_code} in ({202, 409}, {202, 412})
            accepted, refused = (first, second) if first.status_code == 202 else (second, first)
            seen[code_of(refused)] += 1
            shown = credit.shown()
            assert shown["activeExecutionId"] == exact(accepted)["executionId"]
            assert shown["revision"] == 1
    # A precondition that names the revision has failed; one that takes any finds the request busy.
    assert seen == {(412, "REVISION_MISMATCH"): ROUNDS // 2, (409, "REQUEST_BUSY"): ROUNDS // 2}


def test_a09_of_many_repetitions_at_once_all_are_the_one_execution(
    api_alone: RunningService, providers: ScriptedProviders
) -> None:
    credit = CreditRequest.created(api_alone, providers, api_alone.offer(credito()))
    key, tag, start = str(uuid4()), credit.analyst.tag(credit.id), Barrier(8)

    def repeat(_number: int) -> httpx2.Response:
        start.wait()
        return credit.analyst.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"}, key=key, tag=tag)

    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(repeat, range(8)))

    assert {answer.status_code for answer in answers} == {202}
    assert len({exact(answer)["executionId"] for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == 7


def test_a09_another_event_during_an_execution_is_told_what_it_waits_for(
    api_alone: RunningService, providers: ScriptedProviders
) -> None:
    credit = CreditRequest.created(api_alone, providers, api_alone.offer(credito()))
    execution = credit.analyst.start(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"})

    refused = credit.analyst.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-70"})

    assert code_of(refused) == (409, "REQUEST_BUSY")
    assert exact(refused)["blockedByExecutionId"] == execution
    assert credit.applicant.shown(credit.id)["activeExecutionId"] == execution
    assert credit.applicant.execution(execution)["status"] == "PENDING"
    assert APPLICANT not in refused.text


def _both_at_once(
    pool: ThreadPoolExecutor, credit: CreditRequest, tag: str
) -> tuple[httpx2.Response, httpx2.Response]:
    start = Barrier(2)

    def send(client: str) -> httpx2.Response:
        start.wait()
        return credit.analyst.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": client}, tag=tag)

    first, second = pool.map(send, ("CLI-71", "CLI-70"))
    return first, second
