"""A20 the payload tries to write a score."""

from typing import Any

import pytest
from tests.acceptance.credit import CONSENT, CreditRequest
from tests.acceptance.flows import scoring
from tests.plugins.api_user import code_of, exact
from tests.plugins.running_service import RunningService


@pytest.mark.parametrize(
    "data",
    [
        {"validaciones": {"buro": {"score": 99, "consultationId": "C-1"}}},
        {"score": 99},
        {"clienteId": "CUS-71"},
        {"documentos": {}},
    ],
)
def test_a20_a_creation_that_brings_a_provider_s_result_is_refused(
    service: RunningService, credit_type: str, data: dict[str, Any]
) -> None:
    refused = service.user().try_to_create(credit_type, data)

    assert code_of(refused) == (422, "SCHEMA_VIOLATION")
    assert exact(refused)["violations"]


@pytest.mark.parametrize(
    "data",
    [
        {**CONSENT, "score": 99},
        {**CONSENT, "buro": {"score": 99}},
        {**CONSENT, "results": {"buro": {"score": 99}}},
        {**CONSENT, "validaciones": {"buro": {"score": 99}}},
    ],
)
def test_a20_an_event_that_brings_a_score_is_refused_before_it_is_accepted(
    service: RunningService, scoring_type: str, data: dict[str, Any]
) -> None:
    analyst = service.user()
    request = analyst.create(scoring_type, {"clienteId": "CLI-60"})
    before = analyst.shown(request)

    refused = analyst.send(request, "VALIDAR_BURO", data)

    assert code_of(refused) == (422, "SCHEMA_VIOLATION")
    assert analyst.shown(request) == before


def test_a20_a_creation_without_a_schema_of_its_own_still_protects_what_updates_write(
    service: RunningService,
) -> None:
    document = {**_scoring_without_creation_schema()}
    type_key, analyst = service.offer(document), service.user()

    refused = analyst.try_to_create(
        type_key, {"clienteId": "CLI-60", "validaciones": {"buro": {"score": 99}}}
    )

    assert code_of(refused) == (422, "SCHEMA_VIOLATION")
    request = analyst.create(type_key, {"clienteId": "CLI-60"})
    assert analyst.run(request, "VALIDAR_BURO", CONSENT)["result"]["outcome"] == "MANUAL"


def test_a20_a_score_is_shown_to_the_roles_that_the_flow_names_and_to_nobody_else(
    credit: CreditRequest, service: RunningService
) -> None:
    credit.assign()
    credit.register("INE")
    credit.register("ESTADO_CUENTA")
    credit.consult_bureau()

    seen = credit.applicant.shown(credit.id)["data"]

    assert credit.shown()["data"]["validaciones"]["buro"]["score"] == 71
    assert "buro" not in seen["validaciones"]
    assert "buro" not in seen.get("consentimientos", {})
    assert seen["validaciones"]["ine"]["validacion"] == "VALID"


def _scoring_without_creation_schema() -> dict[str, Any]:

    document = scoring()
    del document["creation"]
    return document
