"""What the document service says about a document: its answer's contract, and the facts that checks need."""

from attrs import frozen

from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_worker.integration_reading import DocumentService, whole
from orchestrator_worker.route import FromInput, RequestFields, Route

# What a link of a document can hold: a bare type without parameters (RFC 6838, section 4.2), and a whole number that
# every reader of JSON takes exactly (RFC 8259, section 6).
MIME_TYPE = "^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$"
BYTES_MAX = 2**53 - 1

METADATA_SCHEMA: JsonObject = {
    "title": "Metadata of a document",
    "type": "object",
    "required": [
        "documentId",
        "ownerSubject",
        "businessScope",
        "documentType",
        "mimeType",
        "sizeBytes",
        "checksum",
        "malwareStatus",
    ],
    "properties": {
        "documentId": {"type": "string", "minLength": 1, "maxLength": 200},
        "ownerSubject": {"type": "string", "minLength": 1, "maxLength": 255},
        "businessScope": {"type": "string", "minLength": 1, "maxLength": 255},
        "requestId": {"type": ["string", "null"], "format": "uuid"},
        "documentType": {"type": "string", "minLength": 1, "maxLength": 100},
        "mimeType": {"type": "string", "pattern": MIME_TYPE, "maxLength": 100},
        "sizeBytes": {"type": "integer", "minimum": 0, "maximum": BYTES_MAX},
        "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "malwareStatus": {"enum": ["CLEAN", "INFECTED", "PENDING"]},
    },
}

_METADATA = compile_schema(METADATA_SCHEMA)


@frozen(kw_only=True)
class DocumentMetadata:
    """The facts of one document; `request_id` is the request it was uploaded for, if any."""

    document_id: str
    owner_subject: str
    business_scope: str
    request_id: str | None
    document_type: str
    mime_type: str
    size_bytes: int
    checksum: str
    malware_status: str


def metadata_of(answer: JsonObject) -> DocumentMetadata:
    """Return the facts of an answer that satisfies METADATA_SCHEMA."""
    request_id = answer.get("requestId")
    return DocumentMetadata(
        document_id=str(answer["documentId"]),
        owner_subject=str(answer["ownerSubject"]),
        business_scope=str(answer["businessScope"]),
        request_id=None if request_id is None else str(request_id).lower(),
        document_type=str(answer["documentType"]),
        mime_type=str(answer["mimeType"]).lower(),
        size_bytes=whole(answer["sizeBytes"]),
        checksum=str(answer["checksum"]),
        malware_status=str(answer["malwareStatus"]),
    )


def metadata_route(service: DocumentService) -> Route:
    """Return how one document's metadata is read; its path's one field is the input `documentId`."""
    return Route(
        endpoint=service.endpoint,
        request=RequestFields(
            method="GET",
            path=service.path,
            path_fields={"documentId": FromInput(name="documentId")},
        ),
        output_schema=METADATA_SCHEMA,
        output=_METADATA,
        timeouts=service.timeouts,
        answer_bytes_max=service.answer_bytes_max,
        limit=service.limit,
    )
