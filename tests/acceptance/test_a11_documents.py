"""A11 a document that is invalid, and one that belongs to somebody else."""

from typing import Any
from uuid import uuid4

import pytest
from tests.acceptance.credit import APPLICANT, CreditRequest
from tests.plugins.api_user import code_of
from tests.plugins.running_service import SCOPE, RunningService
from tests.plugins.scripted_providers import ScriptedProviders


def _links(service: RunningService, request_id: str) -> list[tuple[Any, ...]]:
    return service.database.execute(
        "SELECT document_type, storage_document_id FROM orchestrator.document_reference"
        " WHERE request_id = %s ORDER BY created_at",
        request_id,
    )


def test_a11_a_good_document_is_linked_with_what_the_document_service_says(
    credit: CreditRequest, service: RunningService
) -> None:
    credit.assign()
    document = credit.upload("INE", mimeType="image/png", sizeBytes=777)

    credit.register("INE", document)

    linked = credit.shown()["data"]["documentos"]["ine"]
    assert (linked["documentId"], linked["mimeType"], linked["sizeBytes"]) == (document, "image/png", 777)
    assert _links(service, credit.id) == [("INE", document)]


def test_a11_a_document_that_the_validation_refuses_keeps_the_task_with_its_reasons(
    credit: CreditRequest, providers: ScriptedProviders
) -> None:
    credit.assign()
    document = credit.upload("INE")
    providers.know(invalidDocuments={document: ["BORROSA", "VENCIDA"]})

    execution = credit.register("INE", document)

    assert (execution["status"], execution["result"]["outcome"]) == ("SUCCEEDED", "DOCUMENTO_INVALIDO")
    seen = credit.shown()
    assert seen["state"] == "INE_PENDIENTE"
    assert "documentos" not in seen["data"]
    assert seen["data"]["validaciones"]["ine"] == {
        "registro": "VALID",
        "motivosRegistro": [],
        "validacion": "INVALID",
        "motivosValidacion": ["BORROSA", "VENCIDA"],
    }
    assert credit.register("INE")["result"]["outcome"] == "DOCUMENTO_VALIDO"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"malwareStatus": "INFECTED"}, "MALWARE"),
        ({"mimeType": "text/html"}, "MIME_TYPE_NOT_ACCEPTED"),
        ({"sizeBytes": 10485761}, "TOO_LARGE"),
        ({"document_type": "PASAPORTE"}, "DOCUMENT_TYPE_MISMATCH"),
    ],
)
def test_a11_a_document_that_does_not_fit_keeps_the_task_and_is_not_linked(
    credit: CreditRequest, service: RunningService, facts: dict[str, Any], reason: str
) -> None:
    credit.assign()
    document = credit.upload(**{"document_type": "INE", **facts})

    execution = credit.register("INE", document)

    assert (execution["status"], execution["result"]["outcome"]) == ("SUCCEEDED", "DOCUMENTO_INVALIDO")
    assert credit.shown()["state"] == "INE_PENDIENTE"
    assert credit.shown()["data"]["validaciones"]["ine"]["motivosRegistro"] == [reason]
    assert _links(service, credit.id) == []


@pytest.mark.parametrize(
    "facts",
    [
        {"owner": "solicitante-2"},
        {"scope": "SUCURSAL-2"},
        {"requestId": str(uuid4())},
        None,
    ],
    ids=["another-owner", "another-scope", "another-request", "unknown"],
)
def test_a11_a_document_of_somebody_else_is_refused_and_never_linked(
    credit: CreditRequest,
    service: RunningService,
    providers: ScriptedProviders,
    facts: dict[str, Any] | None,
) -> None:
    credit.assign()
    before = credit.shown()
    document = str(uuid4())
    if facts is not None:
        order = {"owner": APPLICANT, "scope": SCOPE, "document_type": "INE", **facts}
        providers.add_document(document=document, **order)

    execution = credit.register("INE", document)

    # Whether it exists at all is told to nobody.
    assert (execution["status"], execution["errorCode"]) == ("FAILED", "DOCUMENT_REFUSED")
    assert execution["result"] is None
    assert (credit.shown()["state"], credit.shown()["data"]) == (before["state"], before["data"])
    assert _links(service, credit.id) == []
    assert providers.calls("/documentos/validaciones") == []


def test_a11_a_document_is_named_by_its_id_and_by_nothing_else(credit: CreditRequest) -> None:
    credit.assign()
    for data in ({"documentId": "http://ajeno/x"}, {"documentId": str(uuid4()), "status": "VALID"}):
        refused = credit.applicant.send(credit.id, "REGISTRAR_INE", data)
        assert code_of(refused) == (422, "SCHEMA_VIOLATION")
