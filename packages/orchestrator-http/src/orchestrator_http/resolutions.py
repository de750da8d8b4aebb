"""POST /admin/executions/{id}/resolve."""

from typing import Final

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.usecases.permissions import EXECUTION_OPERATOR, require_any
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_http.call import Call
from orchestrator_http.payloads import members, text_of
from orchestrator_http.preconditions import required_idempotency_key
from orchestrator_http.refusals import InvalidBody, NotImplementedHere

_RESOLUTIONS: Final = ("RESUME_WITH_RESULT", "RESUME_EFFECT_ABSENT", "CLOSE_WITHOUT_TRANSITION")


@frozen(kw_only=True)
class ResolutionHandlers:
    """Take resolutions of executions that wait for an operator."""

    read_request: ReadRequest

    async def resolve(self, call: Call) -> Response:
        """Check who asks for what, and answer 501: nothing is resolved by this release."""
        require_any(call.actor, EXECUTION_OPERATOR)
        await self.read_request.execution(ExecutionId(call.path_uuid("executionId")), call.actor)
        required_idempotency_key(call.headers)
        await _require_resolution(call)
        raise NotImplementedHere("Resolutions aren't taken by this release; the execution stays as it is.")


async def _require_resolution(call: Call) -> None:
    body = members(
        await call.json_object(),
        required={"actionId": str, "resolution": str, "evidence": dict},
        optional={"result": dict},
    )
    resolution = text_of(body, "resolution")
    if resolution not in _RESOLUTIONS:
        raise InvalidBody(f"The resolution must be one of {', '.join(_RESOLUTIONS)}.", pointer="/resolution")
    if ("result" in body) is not (resolution == "RESUME_WITH_RESULT"):
        raise InvalidBody("A result belongs to RESUME_WITH_RESULT, and only to it.", pointer="/result")
