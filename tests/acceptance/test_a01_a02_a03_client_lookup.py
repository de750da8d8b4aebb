"""A01 the client is found; A02 the client does not exist; A03 the client API fails."""

import pytest
from tests.acceptance.credit import CreditRequest
from tests.acceptance.flows import credito
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

CLIENTS = "/clientes/{clienteId}"


def test_a01_a_client_who_is_found_is_stored_and_the_request_moves_on(
    credit: CreditRequest, providers: ScriptedProviders
) -> None:
    execution = credit.assign("CLI-71")

    assert (execution["status"], execution["result"]["outcome"]) == ("SUCCEEDED", "CLIENTE_ENCONTRADO")
    assert credit.shown()["state"] == "INE_PENDIENTE"
    assert credit.shown()["data"]["clienteId"] == "CUS-71"
    assert [call["path"] for call in providers.calls(CLIENTS)] == ["/clientes/CLI-71"]


def test_a02_a_client_who_does_not_exist_is_a_business_outcome_that_keeps_the_state(
    credit: CreditRequest,
) -> None:
    before = credit.shown()

    execution = credit.assign("CLI-NADIE")

    assert (execution["status"], execution["errorCode"]) == ("SUCCEEDED", None)
    assert execution["result"]["outcome"] == "CLIENTE_NO_ENCONTRADO"
    assert credit.shown()["state"] == "CREADA"
    assert credit.shown()["data"] == before["data"]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ({"status": 503}, "PROVIDER_UNAVAILABLE"),
        ({"status": 429, "headers": {"Retry-After": "0"}}, "PROVIDER_UNAVAILABLE"),
        ({"mode": "drop_before_answer"}, "PROVIDER_TIMEOUT"),
        ({"mode": "truncated"}, "PROVIDER_TIMEOUT"),
    ],
    ids=["unavailable", "too-many", "dropped", "cut-off"],
)
def test_a03_a_failing_client_api_is_tried_three_times_and_never_taken_for_a_missing_client(
    credit: CreditRequest, providers: ScriptedProviders, failure: dict[str, object], code: str
) -> None:
    before = credit.shown()
    providers.script(CLIENTS, {**failure, "times": 5})

    execution = credit.assign("CLI-71")

    assert (execution["status"], execution["errorCode"], execution["result"]) == ("FAILED", code, None)
    assert len(providers.calls(CLIENTS)) == 3
    assert (credit.shown()["state"], credit.shown()["data"]) == ("CREADA", before["data"])


def test_a03_a_client_api_that_is_too_slow_fails_technically(
    service: RunningService, providers: ScriptedProviders
) -> None:
    document = credito()
    document["transitions"][0]["actions"][0]["integrationKey"] = "CLIENTES_CONSULTA_IMPACIENTE"
    credit = CreditRequest.created(service, providers, service.offer(document))
    providers.script(CLIENTS, {"delayMs": 60_000, "times": 5})

    execution = credit.assign("CLI-71")

    assert (execution["status"], execution["errorCode"]) == ("FAILED", "PROVIDER_TIMEOUT")
    assert credit.shown()["state"] == "CREADA"


def test_a03_a_refused_sign_in_is_not_tried_again(
    credit: CreditRequest, providers: ScriptedProviders
) -> None:
    providers.script(CLIENTS, {"status": 401})

    execution = credit.assign("CLI-71")

    assert (execution["status"], execution["errorCode"]) == ("FAILED", "PROVIDER_AUTHENTICATION")
    assert len(providers.calls(CLIENTS)) == 1


def test_a03_a_client_api_that_recovers_is_asked_again_under_the_same_key(
    credit: CreditRequest, providers: ScriptedProviders
) -> None:
    providers.script(CLIENTS, {"status": 503}, {"mode": "drop_before_answer"})

    execution = credit.assign("CLI-71")

    calls = providers.calls(CLIENTS)
    assert (execution["status"], credit.shown()["state"]) == ("SUCCEEDED", "INE_PENDIENTE")
    assert len(calls) == 3
    assert {call["idempotencyKey"] for call in calls} == {f"{execution['executionId']}:consultar-cliente"}
    # Each claim writes under a token of its own.
    assert [int(call["fencingToken"]) for call in calls] == [1, 2, 3]


def test_a03_a_failed_lookup_releases_the_request_for_another_event(
    credit: CreditRequest, providers: ScriptedProviders
) -> None:
    providers.script(CLIENTS, {"status": 503, "times": 3})
    assert credit.assign("CLI-71")["status"] == "FAILED"

    assert credit.assign("CLI-71")["result"]["outcome"] == "CLIENTE_ENCONTRADO"
