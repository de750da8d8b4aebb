"""A04 the score's boundaries; A05 a score that is missing or of another kind."""

from decimal import Decimal

import pytest
from tests.acceptance.credit import CONSENT, CreditRequest
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

BUREAU = "/buro/consultas"


@pytest.mark.parametrize(
    ("client", "outcome", "state"),
    [
        ("CLI-71", "N", "PASO_N"),
        ("CLI-70", "M", "PASO_M"),
        ("CLI-61", "M", "PASO_M"),
        ("CLI-60", "MANUAL", "REVISION_MANUAL"),
    ],
)
def test_a04_a_score_leads_the_whole_flow_to_its_route(
    credit: CreditRequest, client: str, outcome: str, state: str
) -> None:
    assert credit.assign(client)["status"] == "SUCCEEDED"
    assert credit.register("INE")["result"]["outcome"] == "DOCUMENTO_VALIDO"
    assert credit.register("ESTADO_CUENTA")["result"]["outcome"] == "DOCUMENTO_VALIDO"
    assert credit.shown()["state"] == "BURO_PENDIENTE"

    execution = credit.consult_bureau()

    assert (execution["status"], execution["result"]["outcome"]) == ("SUCCEEDED", outcome)
    assert credit.shown()["state"] == state


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        ("70.5", "N"),
        ("70.0000000000000000000000000000000001", "N"),
        ("1e2", "N"),
        ("7.00E+1", "M"),
        ("60.00000000000000001", "M"),
        ("60.00", "MANUAL"),
        ("6e1", "MANUAL"),
        ("0", "MANUAL"),
    ],
)
def test_a04_a_score_counts_by_its_exact_value_however_it_is_written(
    service: RunningService,
    providers: ScriptedProviders,
    scoring_type: str,
    written: str,
    outcome: str,
) -> None:
    analyst = service.user()
    request = analyst.create(scoring_type, {"clienteId": "CLI-71"})
    providers.script(BUREAU, {"status": 200, "rawBody": f'{{"score":{written},"consultationId":"C-1"}}'})

    assert analyst.run(request, "VALIDAR_BURO", CONSENT)["result"]["outcome"] == outcome
    assert analyst.shown(request)["data"]["validaciones"]["buro"]["score"] == Decimal(written)


@pytest.mark.parametrize(
    "body",
    [
        '{"consultationId":"C-1"}',
        '{"score":"71","consultationId":"C-1"}',
        '{"score":null,"consultationId":"C-1"}',
        '{"score":true,"consultationId":"C-1"}',
        '{"score":[71],"consultationId":"C-1"}',
        '{"score":1001,"consultationId":"C-1"}',
        '{"score":-1,"consultationId":"C-1"}',
        '{"score":71,"score":10,"consultationId":"C-1"}',
        '{"score":NaN,"consultationId":"C-1"}',
        '{"score":71',
        "<html>71</html>",
        "[]",
        "",
    ],
)
def test_a05_a_score_that_is_not_one_is_a_broken_contract_and_takes_no_route(
    service: RunningService, providers: ScriptedProviders, scoring_type: str, body: str
) -> None:
    analyst = service.user()
    request = analyst.create(scoring_type, {"clienteId": "CLI-71"})
    providers.script(BUREAU, {"status": 200, "rawBody": body})

    execution = analyst.run(request, "VALIDAR_BURO", CONSENT)

    seen = analyst.shown(request)
    assert (execution["status"], execution["errorCode"]) == ("FAILED", "CONTRACT_VIOLATION")
    assert execution["result"] is None
    assert (seen["state"], seen["data"]) == ("BURO_PENDIENTE", {"clienteId": "CLI-71"})
    # A provider that breaks its contract is not asked to break it again.
    assert len(providers.calls(BUREAU)) == 1


def test_a05_a_client_whom_the_bureau_does_not_know_gets_no_low_score(
    service: RunningService, scoring_type: str
) -> None:
    analyst = service.user()
    request = analyst.create(scoring_type, {"clienteId": "CLI-NADIE"})

    execution = analyst.run(request, "VALIDAR_BURO", CONSENT)

    assert (execution["status"], execution["errorCode"]) == ("FAILED", "PROVIDER_REJECTED")
    assert analyst.shown(request)["state"] == "BURO_PENDIENTE"
