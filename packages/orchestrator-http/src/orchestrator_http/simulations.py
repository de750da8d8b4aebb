"""POST /admin/flows/{id}/simulate."""

from collections.abc import Mapping
from typing import Final, assert_never, cast

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import InvalidInput, OrchestratorError
from orchestrator_domain.exact_json.value import JsonObject, JsonValue, escaped_token
from orchestrator_domain.execution.completion import RunFault
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    EventKey,
    FlowId,
    Role,
    StateKey,
    Subject,
)
from orchestrator_domain.simulation.fault_place import fault_place
from orchestrator_domain.simulation.scenario import (
    NotAccepted,
    SimulatedAction,
    Stopped,
    Transitioned,
)
from orchestrator_domain.usecases.simulate_flow import FlowSimulated, SimulateFlow, SimulateFlowCommand
from orchestrator_http.call import Call
from orchestrator_http.payloads import json_response, members, object_of, text_of
from orchestrator_http.refusals import InvalidBody

_UNTOUCHED: Final[JsonObject] = {
    "refusal": None,
    "transitionId": None,
    "actions": [],
    "decision": None,
    "updates": [],
    "outcome": None,
    "fault": None,
}


@frozen(kw_only=True)
class SimulationHandlers:
    """Try events on flow versions."""

    simulate_flow: SimulateFlow

    async def simulate(self, call: Call) -> Response:
        """Answer 200 with what would come of the event, also when that is a refusal or a fault."""
        found = await self.simulate_flow(await _command(call), call.actor)
        return json_response(_view(found))


async def _command(call: Call) -> SimulateFlowCommand:
    flow_id = FlowId(call.path_uuid("flowId"))
    body = members(
        await call.json_object(),
        required={"event": str},
        optional={"data": dict, "state": str, "eventData": dict, "actor": dict, "results": dict},
    )
    return SimulateFlowCommand(
        flow_id=flow_id,
        data=object_of(body, "data") if "data" in body else {},
        state=StateKey(text_of(body, "state")) if "state" in body else None,
        event=EventKey(text_of(body, "event")),
        event_data=object_of(body, "eventData") if "eventData" in body else {},
        actor=_actor(object_of(body, "actor")) if "actor" in body else None,
        results=_results(object_of(body, "results")) if "results" in body else {},
    )


def _actor(written: JsonObject) -> Actor:
    body = members(
        written,
        required={},
        optional={"subject": str, "roles": list, "scopes": list, "attributes": dict},
        within="/actor",
    )
    return Actor(
        subject=Subject(text_of(body, "subject") if "subject" in body else "simulation"),
        roles=frozenset(Role(name) for name in _names(body, "roles")),
        scopes=frozenset(BusinessScope(name) for name in _names(body, "scopes")),
        attributes=object_of(body, "attributes") if "attributes" in body else {},
    )


def _names(body: JsonObject, member: str) -> list[str]:
    names = cast("list[JsonValue]", body.get(member, []))
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise InvalidBody("The member must be a string.", pointer=f"/actor/{member}/{number}")
    return cast("list[str]", names)


def _results(written: JsonObject) -> Mapping[ActionKey, JsonObject]:
    for action, result in written.items():
        if not isinstance(result, dict):
            raise InvalidBody("The result must be an object.", pointer=f"/results/{escaped_token(action)}")
    return {ActionKey(action): cast("JsonObject", result) for action, result in written.items()}


def _view(found: FlowSimulated) -> JsonObject:
    before: JsonObject = {"state": found.scenario.state, "data": found.scenario.data}
    match found.simulated:
        case NotAccepted(refusal=refusal):
            return {"accepted": False, **_UNTOUCHED, **before, "refusal": _refusal(refusal)}
        case Stopped(transition=transition, actions=actions, fault=fault):
            place = fault_place(found.definition, transition, fault)
            ran: JsonObject = {"transitionId": transition, "actions": _actions(actions)}
            return {"accepted": True, **_UNTOUCHED, **ran, **before, "fault": _fault(fault, place)}
        case Transitioned() as done:
            return {"accepted": True, **_UNTOUCHED, **_transitioned(done)}
        case _ as unreachable:
            assert_never(unreachable)


def _transitioned(done: Transitioned) -> JsonObject:
    return {
        "transitionId": done.transition,
        "actions": _actions(done.actions),
        "decision": done.trace.get("decision"),
        "updates": [{"target": update.target, "value": update.value} for update in done.updates],
        "outcome": done.outcome,
        "state": done.state,
        "data": done.data,
    }


def _actions(actions: tuple[SimulatedAction, ...]) -> list[JsonValue]:
    return [{"actionId": each.action, "inputs": each.inputs, "result": each.result} for each in actions]


def _refusal(refusal: OrchestratorError) -> JsonObject:
    violations: list[JsonValue] = []
    if isinstance(refusal, InvalidInput):
        violations = [{"pointer": place, "message": text} for place, text in refusal.violations]
    return {
        "code": refusal.code,
        "message": refusal.message,
        "pointer": refusal.pointer,
        "violations": violations,
    }


def _fault(fault: RunFault, place: str) -> JsonObject:
    return {"code": fault.code, "place": place, "detail": fault.detail}
