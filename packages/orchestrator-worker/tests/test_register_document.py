"""A document is linked only if it is the requester's own, of the kind asked for, and clean."""

from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from tests.plugins.lending_catalogue import REQUEST, attempt_at, catalogue_file, contract_of, deployed

from orchestrator_domain.decision.condition import PathOperand
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    Unavailable,
    UnclearRefusal,
)
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.provider_answer import (
    Answer,
    BodyFault,
    CallOutcome,
    Json,
    NoAnswer,
    NoJson,
    NotConfigured,
    NotConnected,
)
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.register_document import RegisterDocument

DOCUMENT = "6f1c2f0e-5d0b-4b8e-9a55-0d4c1a6c7e01"
CHECKSUM = "ab" * 32
CATALOGUE = deployed(
    catalogue_file(documentService={"endpoint": "inventory", "path": "/v1/documents/{documentId}/metadata"})
)
ACTION = ActionDefinition(
    id=ActionKey("register"),
    type="REGISTER_DOCUMENT",
    inputs={"documentId": PathOperand(pointer=Pointer.parse("/event/data/documentId"))},
    configuration={
        "documentType": "CARD",
        "acceptedMimeTypes": ["application/pdf", "image/png"],
        "maxBytes": 1000,
    },
)
REFUSED = Refused(error_code="DOCUMENT_REFUSED")


class ScriptedService:
    """Answer each call with one outcome, and keep what was asked."""

    def __init__(self, outcome: CallOutcome) -> None:
        self._outcome = outcome
        self.requests: list[ProviderRequest] = []

    async def call(self, request: ProviderRequest) -> CallOutcome:
        self.requests.append(request)
        return self._outcome


def metadata(**changes: Any) -> JsonObject:
    return {
        "documentId": DOCUMENT,
        "ownerSubject": "owner-1",
        "businessScope": "NORTH",
        "requestId": None,
        "documentType": "CARD",
        "mimeType": "application/pdf",
        "sizeBytes": 1000,
        "checksum": CHECKSUM,
        "malwareStatus": "CLEAN",
        **changes,
    }


async def registered(
    service: ScriptedService,
    *,
    document: str = DOCUMENT,
    configuration: JsonObject | None = None,
    catalogue: DeployedCatalogue = CATALOGUE,
) -> ActionResult:
    action = ACTION if configuration is None else evolve(ACTION, configuration=configuration)
    handler = RegisterDocument(
        service=catalogue.document_service,
        client=service,
        now=lambda: datetime(2026, 3, 1, tzinfo=UTC),
    )
    return await handler.execute(action, attempt_at(contract_of(catalogue, action), documentId=document))


async def verdict_on(document: JsonObject, **how: Any) -> ActionResult:
    return await registered(ScriptedService(Answer(status=200, body=Json(value=document))), **how)


async def reasons_of(document: JsonObject, **how: Any) -> object:
    result = await verdict_on(document, **how)
    assert isinstance(result, Succeeded)
    assert result.result["status"] == ("INVALID" if result.result["reasonCodes"] else "VALID")
    return result.result["reasonCodes"]


async def test_a_document_that_fits_is_valid_and_described() -> None:
    assert await verdict_on(metadata(uploadedFrom="10.0.0.1")) == Succeeded(
        result={
            "status": "VALID",
            "reasonCodes": [],
            "documentId": DOCUMENT,
            "documentType": "CARD",
            "mimeType": "application/pdf",
            "sizeBytes": 1000,
            "checksum": CHECKSUM,
        }
    )


async def test_every_result_satisfies_the_contract() -> None:
    schema = compile_schema(contract_of(CATALOGUE, ACTION).output_schema)
    for changes in ({}, {"malwareStatus": "INFECTED", "documentType": "X", "sizeBytes": 10**9}):
        result = await verdict_on(metadata(**changes))
        assert isinstance(result, Succeeded)
        assert schema.violations(result.result) == ()


async def test_the_service_is_asked_with_the_document_in_its_segment_and_the_stable_key() -> None:
    service = ScriptedService(NoAnswer())
    await registered(service, document="a/../b")
    asked = service.requests[0]
    assert (asked.method, asked.target) == ("GET", "/v1/documents/a%2F..%2Fb/metadata")
    assert asked.headers["Idempotency-Key"] == "00000000-0000-0000-0000-0000000000e1:lookup"


@pytest.mark.parametrize(
    "changes",
    [
        {"ownerSubject": "owner-2"},
        {"businessScope": "SOUTH"},
        {"requestId": "00000000-0000-0000-0000-0000000000a2"},
        {"requestId": str(REQUEST), "businessScope": "SOUTH"},
        {"ownerSubject": "owner-2", "documentType": "X", "malwareStatus": "PENDING"},
    ],
)
async def test_a_foreign_document_is_refused(changes: dict[str, Any]) -> None:
    assert await verdict_on(metadata(**changes)) == REFUSED


async def test_a_foreign_and_an_unknown_document_are_told_apart_nowhere() -> None:
    unknown = ScriptedService(Answer(status=404, body=NoJson(fault=BodyFault.EMPTY)))
    assert await registered(unknown) == await verdict_on(metadata(ownerSubject="owner-2"))


async def test_a_document_that_was_uploaded_for_the_request_belongs_to_it_whoever_did() -> None:
    bound = metadata(requestId=str(REQUEST).upper(), ownerSubject="clerk-9")
    assert await reasons_of(bound) == []


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"documentType": "LETTER"}, ["DOCUMENT_TYPE_MISMATCH"]),
        ({"mimeType": "text/html"}, ["MIME_TYPE_NOT_ACCEPTED"]),
        ({"mimeType": "IMAGE/PNG"}, []),
        ({"sizeBytes": 1001}, ["TOO_LARGE"]),
        ({"malwareStatus": "INFECTED"}, ["MALWARE"]),
        (
            {"documentType": "X", "mimeType": "a/b", "sizeBytes": 2000, "malwareStatus": "INFECTED"},
            ["DOCUMENT_TYPE_MISMATCH", "MIME_TYPE_NOT_ACCEPTED", "TOO_LARGE", "MALWARE"],
        ),
        ({"sizeBytes": 1001, "malwareStatus": "PENDING"}, ["TOO_LARGE"]),
    ],
)
async def test_a_document_that_does_not_fit_is_invalid_with_every_reason(
    changes: dict[str, Any], reasons: list[str]
) -> None:
    assert await reasons_of(metadata(**changes)) == reasons


async def test_what_the_flow_does_not_limit_is_not_limited() -> None:
    document = metadata(mimeType="text/html", sizeBytes=10**12)
    assert await reasons_of(document, configuration={"documentType": "CARD"}) == []


async def test_a_document_that_is_still_scanned_is_worth_another_attempt() -> None:
    assert await verdict_on(metadata(malwareStatus="PENDING")) == Transient(error_code="DOCUMENT_NOT_SCANNED")


@pytest.mark.parametrize(
    "changes",
    [
        {"checksum": "short"},
        {"checksum": "AB" * 32},
        {"malwareStatus": "UNKNOWN"},
        {"sizeBytes": -1},
        {"sizeBytes": "1000"},
        {"sizeBytes": 2**53},
        {"mimeType": "application/pdf; charset=utf-8"},
        {"mimeType": "pdf"},
        {"mimeType": "application/" + "x" * 100},
        {"requestId": "not-a-uuid"},
        {"documentId": "another"},
        {"ownerSubject": None},
    ],
)
async def test_metadata_that_breaks_its_contract_is_neither_valid_nor_invalid(
    changes: dict[str, Any],
) -> None:
    assert isinstance(await verdict_on(metadata(**changes)), ContractViolated)


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        (NotConnected(), ProvenUnsent()),
        (NoAnswer(), NoWholeAnswer()),
        (NotConfigured(), ProvenUnsent(error_code="INTEGRATION_UNAVAILABLE")),
        (Answer(status=503, body=NoJson(fault=BodyFault.EMPTY)), Transient()),
        (Answer(status=500, body=NoJson(fault=BodyFault.EMPTY)), UnclearRefusal()),
        (
            Answer(status=403, body=NoJson(fault=BodyFault.EMPTY)),
            Refused(error_code="PROVIDER_AUTHENTICATION"),
        ),
    ],
)
async def test_a_service_that_does_not_answer_never_makes_a_document_invalid(
    outcome: CallOutcome, result: ActionResult
) -> None:
    assert await registered(ScriptedService(outcome)) == result


async def test_a_document_id_that_could_leave_its_segment_is_refused_unsent() -> None:
    service = ScriptedService(NoAnswer())
    assert await registered(service, document="..") == REFUSED
    assert service.requests == []


async def test_without_a_document_service_there_is_no_answer_at_all() -> None:
    service = ScriptedService(NoAnswer())
    assert await registered(service, catalogue=DeployedCatalogue()) == Unavailable()
    assert service.requests == []
