"""POST /admin/flows/{id}/impact."""

import asyncio
from datetime import datetime
from decimal import Decimal
from typing import Final, cast

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.simulation.impact_document import impact_document
from orchestrator_domain.usecases.assess_impact import (
    PLACES_MAX,
    REQUESTS_MAX,
    VALUES_MAX,
    AssessImpact,
    AssessImpactCommand,
    ImpactAssessed,
)
from orchestrator_http.call import Call
from orchestrator_http.moments import moment_of
from orchestrator_http.payloads import PRIVATE, json_response, members, object_of, text_of
from orchestrator_http.preferences import preferred_wait_seconds
from orchestrator_http.refusals import InvalidBody

BODY_BYTES_MAX: Final = 64 * 1024
_SECONDS_DEFAULT: Final = 10


@frozen(kw_only=True)
class ImpactHandlers:
    """Compare a flow version with what really happened."""

    assess_impact: AssessImpact

    async def assess(self, call: Call) -> Response:
        """Answer 200 with what would have come out otherwise, as far as the bounds let it be found.

        `Prefer: wait=N` bounds the time, 10 s without it and 30 s at most; what was applied is told.
        """
        command = await _command(call)
        preferred = preferred_wait_seconds(call.headers)
        clock = asyncio.get_running_loop().time
        begun, seconds = clock(), preferred or _SECONDS_DEFAULT
        found = await self.assess_impact(command, call.actor, time_spent=lambda: (clock() - begun) / seconds)
        applied = {} if preferred is None else {"Preference-Applied": f"wait={preferred}"}
        return json_response(_view(found), headers={**PRIVATE, **applied})


async def _command(call: Call) -> AssessImpactCommand:
    flow_id = FlowId(call.path_uuid("flowId"))
    body = members(
        await call.json_object(), required={}, optional={"requestsMax": int, "since": str, "vary": dict}
    )
    places, values = _vary(object_of(body, "vary")) if "vary" in body else ((), ())
    return AssessImpactCommand(
        flow_id=flow_id,
        requests_max=_requests_max(body),
        since=_since(text_of(body, "since")) if "since" in body else None,
        places=places,
        values=values,
    )


def _requests_max(body: JsonObject) -> int:
    wanted = cast("int", body.get("requestsMax", REQUESTS_MAX))
    if not 1 <= wanted <= REQUESTS_MAX:
        raise InvalidBody(
            f"The member must be a whole number from 1 to {REQUESTS_MAX}.", pointer="/requestsMax"
        )
    return wanted


def _since(text: str) -> datetime:
    moment = moment_of(text)
    if moment is None:
        raise InvalidBody(
            "The member must be a moment with its offset, such as 2026-10-25T12:00:00Z.", pointer="/since"
        )
    return moment


def _vary(written: JsonObject) -> tuple[tuple[Pointer, ...], tuple[int | Decimal, ...]]:
    body = members(written, required={"places": list, "values": list}, within="/vary")
    places = [_place(place, number) for number, place in enumerate(_some(body, "places", PLACES_MAX))]
    values = [_value(value, number) for number, value in enumerate(_some(body, "values", VALUES_MAX))]
    return tuple(places), tuple(values)


def _some(body: JsonObject, name: str, most: int) -> list[JsonValue]:
    found = cast("list[JsonValue]", body[name])
    if not 1 <= len(found) <= most:
        raise InvalidBody(f"The member must have from 1 to {most} elements.", pointer=f"/vary/{name}")
    return found


def _place(place: JsonValue, number: int) -> Pointer:
    try:
        return Pointer.parse(place if isinstance(place, str) else "no pointer")
    except InvalidPointer:
        raise InvalidBody("The element must be a JSON Pointer.", pointer=f"/vary/places/{number}") from None


def _value(value: JsonValue, number: int) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidBody("The element must be a number.", pointer=f"/vary/values/{number}")
    return value


def _view(found: ImpactAssessed) -> JsonObject:
    return {
        "stoppedBy": None if found.stopped_by is None else found.stopped_by.value,
        **impact_document(found.study, found.shares, disclosure=found.disclosure),
    }
