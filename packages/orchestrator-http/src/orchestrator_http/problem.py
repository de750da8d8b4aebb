"""How refusals and failures are told: one table from code to status, and problem+json (RFC 9457)."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.errors import (
    FlowInvalid,
    InvalidInput,
    OrchestratorError,
    RequestBusy,
    RevisionMismatch,
)
from orchestrator_domain.exact_json.text import MalformedJson, dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import CorrelationId
from orchestrator_http.preconditions import entity_tag
from orchestrator_http.refusals import (
    BodyTooLarge,
    BodyTooSlow,
    HeadersTooLarge,
    MethodNotAllowed,
    NotAuthenticated,
)
from orchestrator_http.views import finding_view


@frozen
class ProblemKind:
    """What all problems of one code share."""

    status: int
    title: str


PROBLEMS: Final[Mapping[str, ProblemKind]] = {
    "MALFORMED_JSON": ProblemKind(400, "The body is not JSON that can be taken"),
    "INVALID_BODY": ProblemKind(400, "The body has another shape than this route takes"),
    "INVALID_HEADER": ProblemKind(400, "A header can't be taken as it was sent"),
    "INVALID_QUERY": ProblemKind(400, "A query parameter can't be taken as it was sent"),
    "INVALID_CURSOR": ProblemKind(400, "The cursor is not one of this list, reader and filter"),
    "IDEMPOTENCY_KEY_REQUIRED": ProblemKind(400, "The command needs an Idempotency-Key"),
    "NOT_AUTHENTICATED": ProblemKind(401, "A valid access token is needed"),
    "ACCESS_DENIED": ProblemKind(403, "The actor may not do this"),
    "NOT_FOUND": ProblemKind(404, "Nothing visible is found here"),
    "METHOD_NOT_ALLOWED": ProblemKind(405, "The resource has no such method"),
    "REQUEST_TIMEOUT": ProblemKind(408, "The body did not arrive in time"),
    "REQUEST_BUSY": ProblemKind(409, "An earlier event is still being processed"),
    "REQUEST_ERASED": ProblemKind(409, "The request's data has been erased"),
    "INVALID_EVENT": ProblemKind(409, "The current state has no transition for the event"),
    "IDEMPOTENCY_CONFLICT": ProblemKind(409, "The Idempotency-Key belongs to another command"),
    "REQUEST_TYPE_DISABLED": ProblemKind(409, "The request type is disabled"),
    "REQUEST_TYPE_WITHOUT_FLOW": ProblemKind(409, "The request type has no active flow"),
    "FLOW_RETIRED": ProblemKind(409, "The flow version is retired"),
    "FLOW_NOT_DRAFT": ProblemKind(409, "The flow version is not a draft any more"),
    "FLOW_NOT_PUBLISHED": ProblemKind(409, "The flow version is not published"),
    "DUPLICATE_FLOW_VERSION": ProblemKind(409, "The flow version exists already"),
    "EXECUTION_NOT_RESOLVABLE": ProblemKind(409, "The execution does not wait for a resolution"),
    "REVISION_MISMATCH": ProblemKind(412, "The precondition does not hold"),
    "BODY_TOO_LARGE": ProblemKind(413, "The body is too large"),
    "DATA_TOO_LARGE": ProblemKind(413, "The request's data would be too large"),
    "UNSUPPORTED_MEDIA_TYPE": ProblemKind(415, "The body must be application/json"),
    "SCHEMA_VIOLATION": ProblemKind(422, "The input breaks its schema"),
    "UNKNOWN_REQUEST_TYPE": ProblemKind(422, "The request type is unknown"),
    "BUSINESS_SCOPE_REQUIRED": ProblemKind(422, "A business scope must be named"),
    "GUARD_NOT_SATISFIED": ProblemKind(422, "The transition's guard is not satisfied"),
    "EVALUATION_ERROR": ProblemKind(422, "A condition can't be evaluated on this data"),
    "FLOW_INVALID": ProblemKind(422, "The flow definition has errors"),
    "PRECONDITION_REQUIRED": ProblemKind(428, "The request must be conditional"),
    "HEADERS_TOO_LARGE": ProblemKind(431, "The headers are too large"),
    "INTERNAL_ERROR": ProblemKind(500, "The service failed unexpectedly"),
    "STORAGE_UNAVAILABLE": ProblemKind(503, "The store does not answer"),
    "FLOW_UNREADABLE": ProblemKind(503, "The request's flow version can't be read"),
    "AUTHENTICATION_UNAVAILABLE": ProblemKind(503, "Tokens can't be checked now"),
    "NOT_READY": ProblemKind(503, "The service is not ready"),
}
UNEXPECTED: Final = OrchestratorError(
    "The service failed unexpectedly; tell its operators the correlation id, and repeat commands with the same key."
)
_RETRY_AFTER_SECONDS: Final = "2"


def is_told(error: OrchestratorError) -> bool:
    """Say whether a client may be told this error; what has no row in the table is a defect of ours."""
    return error.code in PROBLEMS and error.code != OrchestratorError.code


def problem_response(error: OrchestratorError, correlation: CorrelationId) -> Response:
    """Answer with the problem of an error that has a row in the table."""
    kind = PROBLEMS[error.code]
    body: JsonObject = {
        "type": f"/problems/{error.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": error.message,
        "code": error.code,
        "correlationId": correlation,
        **({} if error.pointer is None else {"pointer": error.pointer}),
        **_own_members(error),
    }
    return Response(
        dump_json(body),
        status_code=kind.status,
        media_type="application/problem+json",
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **_headers(error, kind)},
    )


def _own_members(error: OrchestratorError) -> JsonObject:
    match error:
        case InvalidInput(violations=violations):
            return {"violations": [{"pointer": place, "message": text} for place, text in violations]}
        case FlowInvalid(findings=findings):
            return {"findings": [finding_view(finding) for finding in findings]}
        case RequestBusy(active_execution=active):
            return {"blockedByExecutionId": str(active)}
        case RevisionMismatch(current=current) if current is not None:
            return {"currentETag": entity_tag(current)}
        case MalformedJson(line=line, column=column) if line is not None and column is not None:
            return {"line": line, "column": column}
        case _:
            return {}


def _headers(error: OrchestratorError, kind: ProblemKind) -> Mapping[str, str]:
    match error:
        case NotAuthenticated(challenge=challenge):
            return {"WWW-Authenticate": challenge}
        case MethodNotAllowed(allowed=allowed):
            return {"Allow": ", ".join(allowed)}
        case RevisionMismatch(current=current) if current is not None:
            return {"ETag": entity_tag(current)}
        case BodyTooLarge() | BodyTooSlow() | HeadersTooLarge():
            # What follows is not wanted: the server closes instead of reading on.
            return {"Connection": "close"}
        case _:
            return {"Retry-After": _RETRY_AFTER_SECONDS} if kind.status == 503 else {}
