"""REGISTER_DOCUMENT: verify that a document is the requester's own, of the kind asked for, and clean.

A document that isn't the requester's, or that nobody knows, is refused without telling which of the two. One that is
theirs but doesn't fit is a business result with reasons. Whatever is not known yet, or can't be asked, is neither.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import cast

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    Refused,
    Succeeded,
    Transient,
    Unavailable,
)
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_worker.action_types import REGISTER_DOCUMENT
from orchestrator_worker.answer_meaning import result_of
from orchestrator_worker.document_metadata import DocumentMetadata, metadata_of, metadata_route
from orchestrator_worker.integration_reading import DocumentService, whole
from orchestrator_worker.invoke_integration import Caller
from orchestrator_worker.provider_answer import Answer
from orchestrator_worker.provider_request import ProviderRequest, UnsendableInput, headers_of, target_of
from orchestrator_worker.route import Route

_DOCUMENT_REFUSED = Refused(error_code="DOCUMENT_REFUSED")


class RegisterDocument(ActionHandler):
    """Verify a document with the document service; without a service there is no answer at all."""

    def __init__(
        self, *, service: DocumentService | None, client: Caller, now: Callable[[], datetime]
    ) -> None:
        self._route = None if service is None else metadata_route(service)
        self._client = client
        self._now = now

    @property
    def type(self) -> str:
        return REGISTER_DOCUMENT

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        """Read the document's metadata once and judge it."""
        if self._route is None:
            return Unavailable()
        try:
            request = _request(self._route, context)
        except UnsendableInput:
            return _DOCUMENT_REFUSED
        outcome = await self._client.call(request)
        if isinstance(outcome, Answer) and outcome.status == 404:
            return _DOCUMENT_REFUSED
        answered = result_of(outcome, self._route, now=self._now())
        if not isinstance(answered, Succeeded):
            return answered
        return _judged(metadata_of(answered.result), definition.configuration, context)


def _request(route: Route, context: ActionContext) -> ProviderRequest:
    return ProviderRequest(
        endpoint=route.endpoint,
        method=route.request.method,
        target=target_of(route.request, context),
        headers=headers_of(context),
        timeouts=route.timeouts,
        answer_bytes_max=route.answer_bytes_max,
        limit=route.limit,
    )


def _judged(document: DocumentMetadata, configuration: JsonObject, context: ActionContext) -> ActionResult:
    if document.document_id != context.inputs["documentId"]:
        return ContractViolated(places=(("/documentId", "The answer is about another document."),))
    if not _belongs(document, context):
        return _DOCUMENT_REFUSED
    reasons = list(_reasons(document, configuration))
    if not reasons and document.malware_status == "PENDING":
        return Transient(error_code="DOCUMENT_NOT_SCANNED")
    return Succeeded(result=_result(document, reasons))


def _belongs(document: DocumentMetadata, context: ActionContext) -> bool:
    """Say whether it is the request's own, or its owner's and not bound to another request."""
    if document.business_scope != context.scope:
        return False
    if document.request_id is not None:
        return document.request_id == str(context.request_id)
    return document.owner_subject == context.owner


def _reasons(document: DocumentMetadata, configuration: JsonObject) -> Iterator[str]:
    accepted = cast("list[JsonValue] | None", configuration.get("acceptedMimeTypes"))
    bytes_max = configuration.get("maxBytes")
    if document.document_type != configuration["documentType"]:
        yield "DOCUMENT_TYPE_MISMATCH"
    if accepted is not None and document.mime_type not in accepted:
        yield "MIME_TYPE_NOT_ACCEPTED"
    if bytes_max is not None and document.size_bytes > whole(bytes_max):
        yield "TOO_LARGE"
    if document.malware_status == "INFECTED":
        yield "MALWARE"


def _result(document: DocumentMetadata, reasons: list[str]) -> JsonObject:
    return {
        "status": "INVALID" if reasons else "VALID",
        "reasonCodes": list[JsonValue](reasons),
        "documentId": document.document_id,
        "documentType": document.document_type,
        "mimeType": document.mime_type,
        "sizeBytes": document.size_bytes,
        "checksum": document.checksum,
    }
