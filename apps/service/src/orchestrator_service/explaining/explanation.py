"""What is told of a request: for people in lines, for machines as JSON, and values only where they are asked for."""

from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from attrs import frozen

from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.poison import CLAIMS_WITHOUT_PROGRESS_MAX
from orchestrator_domain.execution.probe import ProbesMade, probes_made
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.request.standing import EventStanding, Obstacle
from orchestrator_domain.simulation.recorded import RecordedRequest
from orchestrator_postgres.recorded_requests import Timing

_OBSTACLES: Final[Mapping[Obstacle, str]] = {
    Obstacle.REQUEST_BUSY: "an execution blocks the request",
    Obstacle.REQUEST_ERASED: "the request's data has been erased",
    Obstacle.INVALID_EVENT: "the current state has no transition for it",
    Obstacle.ACCESS_DENIED: "none of these roles may send it",
    Obstacle.EVALUATION_ERROR: "its guard can't be evaluated on the request's data",
    Obstacle.GUARD_NOT_SATISFIED: "its guard isn't satisfied by the request's data",
    Obstacle.GUARD_DEPENDS: "its guard depends on the event's data or on its sender",
}


@frozen(kw_only=True)
class Explained:
    """A request, its past, the execution that blocks it, and how its events stand.

    Where the flow version can't be read `flow_fault` says why, and no event can be judged.
    """

    recorded: RecordedRequest
    flow: ReadyFlow | None
    flow_fault: str | None
    active: Execution | None
    timing: Timing | None
    events: tuple[EventStanding, ...]


def as_lines(explained: Explained, *, details: bool) -> Iterator[str]:
    """Tell in lines what happened, what it waits for, and which events would be taken."""
    request = explained.recorded.request
    yield (
        f"request {request.id}: type {request.type_key}, flow {request.flow.key} version {request.flow.version}, "
        f"state {request.state}, revision {request.revision}"
    )
    if details:
        yield f"  owner {request.owner}, scope {request.scope}, data {dump_json(request.data)}"
    yield "what happened"
    for entry in explained.recorded.entries:
        yield _entry_line(entry, details=details)
    yield "what it waits for"
    yield f"  {waits_for(explained)}"
    for checkpoint in _checkpoints(explained):
        yield _checkpoint_line(checkpoint, details=details)
    if (made := _probes(explained)) is not None:
        yield f"    {_probes_line(explained, made)}"
    yield "which events it would take"
    if explained.flow_fault is not None:
        yield f"  none can be judged: {explained.flow_fault}"
    for standing in explained.events:
        yield _event_line(standing)


def as_json(explained: Explained, *, details: bool) -> JsonObject:
    """Tell the same as one object."""
    request = explained.recorded.request
    personal: JsonObject = {"owner": request.owner, "data": request.data} if details else {}
    return {
        "requestId": str(request.id),
        "typeKey": request.type_key,
        "flow": {"key": request.flow.key, "version": request.flow.version},
        "state": request.state,
        "revision": request.revision,
        **personal,
        "history": [_entry(entry, details=details) for entry in explained.recorded.entries],
        "waitsFor": waits_for(explained),
        "activeExecutionId": None if explained.active is None else str(explained.active.id),
        "actions": [_checkpoint(each, details=details) for each in _checkpoints(explained)],
        "probes": _probes_object(explained, _probes(explained)),
        "flowFault": explained.flow_fault,
        "events": [_event(standing) for standing in explained.events],
    }


def waits_for(explained: Explained) -> str:
    """Say what has to happen next, and what an execution that gets nowhere will come to."""
    if explained.active is None:
        return _without_execution(explained)
    claims = 0 if explained.timing is None else explained.timing.claims_without_progress
    # Each question about an effect in doubt is a claim that stores no checkpoint, and nothing is wrong with that.
    if claims <= 1 or _probes(explained) is not None:
        return _with_execution(explained, explained.active)
    return (
        f"{_with_execution(explained, explained.active)} It was claimed {claims} times without storing anything, and is"
        f" ended after {CLAIMS_WITHOUT_PROGRESS_MAX}: whoever runs it dies, or can't read it."
    )


def _with_execution(explained: Explained, active: Execution) -> str:
    named = f"Execution {active.id} of {active.event}"
    seconds = 0.0 if explained.timing is None else explained.timing.due_in_seconds
    match active.status:
        case ExecutionStatus.PENDING:
            return f"{named} waits for a worker, due for {max(0.0, -seconds):.0f} s."
        case ExecutionStatus.RETRY_WAIT:
            when = f"in {seconds:.0f} s" if seconds > 0 else f"since {-seconds:.0f} s"
            return f"{named} is tried again, due {when}, after {active.error_code}."
        case ExecutionStatus.RUNNING:
            lease = None if explained.timing is None else explained.timing.lease_seconds
            if lease is None or lease > 0:
                return f"{named} is being run; its lease holds for {lease or 0.0:.0f} s."
            return (
                f"{named} was being run; its lease is over since {-lease:.0f} s, so any worker takes it over."
            )
        case ExecutionStatus.RECONCILIATION_REQUIRED:
            return f"{named} waits for an operator after {active.error_code}: `orchestrator reconcile show {active.id}`."
        case ExecutionStatus.SUCCEEDED | ExecutionStatus.FAILED:
            raise AssertionError("an execution that has ended blocks nothing")
    assert_never(active.status)


def _without_execution(explained: Explained) -> str:
    request = explained.recorded.request
    state = None if explained.flow is None else explained.flow.definition.state(request.state)
    if state is not None and state.terminal:
        return "Nothing: it has ended."
    if request.data_erased_at is not None:
        return "Nothing: its data has been erased."
    if explained.flow_fault is not None:
        return "A release that reads its flow version; this one takes no event."
    last = explained.recorded.entries[-1] if explained.recorded.entries else None
    if last is not None and last.kind is AuditKind.EXECUTION_FAILED:
        return f"An event; the last one failed{_after(last)}, and left the request as it was."
    return "An event."


def _after(entry: AuditEntry) -> str:
    code = _error_code(entry)
    return "" if code is None else f" after {code}"


def _error_code(entry: AuditEntry) -> str | None:
    """Return the stable code of what went wrong, which is no value of the request."""
    code = None if entry.detail is None else entry.detail.get("errorCode")
    return code if isinstance(code, str) else None


def _checkpoints(explained: Explained) -> tuple[Checkpoint, ...]:
    return () if explained.active is None else explained.recorded.checkpoints.get(explained.active.id, ())


def _probes(explained: Explained) -> ProbesMade | None:
    active = explained.active
    if active is None:
        return None
    entries = [entry for entry in explained.recorded.entries if entry.execution_id == active.id]
    return probes_made((entry.detail, entry.created_at) for entry in entries)


def _next_question_seconds(explained: Explained, made: ProbesMade) -> float | None:
    """Return in how many seconds it is asked again, None if nobody asks any more or somebody is at it."""
    active, timing = explained.active, explained.timing
    doubted = any(
        each.action == made.action and each.status is CheckpointStatus.UNKNOWN
        for each in _checkpoints(explained)
    )
    if active is None or timing is None or active.status is not ExecutionStatus.RETRY_WAIT or not doubted:
        return None
    return max(0.0, timing.due_in_seconds)


def _probes_line(explained: Explained, made: ProbesMade) -> str:
    seconds = _next_question_seconds(explained, made)
    again = "" if seconds is None else f"; next question in {seconds:.0f} s"
    said = f"{made.outcome} at {made.asked_at:%Y-%m-%dT%H:%M:%SZ}"
    return (
        f"the provider was asked {made.asked} times whether {made.action} happened, last answer {said}{again}"
    )


def _probes_object(explained: Explained, made: ProbesMade | None) -> JsonValue:
    if made is None:
        return None
    seconds = _next_question_seconds(explained, made)
    return {
        "action": made.action,
        "asked": made.asked,
        "outcome": made.outcome,
        "askedAt": f"{made.asked_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "nextInSeconds": None if seconds is None else round(seconds),
    }


def _entry_line(entry: AuditEntry, *, details: bool) -> str:
    moved = "" if entry.to_state is None else f"  {entry.from_state} → {entry.to_state}"
    of = "" if entry.execution_id is None else f"  execution {entry.execution_id}"
    code = "" if _error_code(entry) is None else f"  {_error_code(entry)}"
    told = f"  by {entry.actor}: {_detail_text(entry)}" if details else ""
    return f"  {entry.sequence:>3}  {entry.created_at:%Y-%m-%dT%H:%M:%SZ}  {entry.kind.value:<24}{moved}{of}{code}{told}".rstrip()


def _detail_text(entry: AuditEntry) -> str:
    return "erased" if entry.detail is None else dump_json(entry.detail)


def _checkpoint_line(checkpoint: Checkpoint, *, details: bool) -> str:
    error = "" if checkpoint.error_code is None else f", {checkpoint.error_code}"
    result = f", result {dump_json(checkpoint.result)}" if details else ""
    return (
        f"    action {checkpoint.action}: {checkpoint.status.value} after {checkpoint.attempts} attempts, "
        f"{checkpoint.effect.value}{error}{result}"
    )


def _event_line(standing: EventStanding) -> str:
    roles = f" from {', '.join(standing.allowed_roles)}" if standing.allowed_roles else ""
    reasons = "; ".join(f"{each.value}, {_OBSTACLES[each]}" for each in standing.obstacles)
    if standing.is_taken:
        return f"  {standing.event}: taken{roles}" + (f" ({reasons})" if reasons else "")
    elsewhere = ""
    if Obstacle.INVALID_EVENT in standing.obstacles and standing.states:
        elsewhere = f" (it is sent in {', '.join(standing.states)})"
    return f"  {standing.event}: refused{roles}: {reasons}{elsewhere}"


def _entry(entry: AuditEntry, *, details: bool) -> JsonObject:
    personal: JsonObject = {"actor": entry.actor, "detail": entry.detail} if details else {}
    return {
        "sequence": entry.sequence,
        "at": f"{entry.created_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "kind": entry.kind.value,
        "executionId": None if entry.execution_id is None else str(entry.execution_id),
        "fromState": entry.from_state,
        "toState": entry.to_state,
        "errorCode": _error_code(entry),
        "erased": entry.detail is None,
        **personal,
    }


def _checkpoint(checkpoint: Checkpoint, *, details: bool) -> JsonObject:
    result: dict[str, JsonValue] = {"result": checkpoint.result} if details else {}
    return {
        "action": checkpoint.action,
        "status": checkpoint.status.value,
        "attempts": checkpoint.attempts,
        "effect": checkpoint.effect.value,
        "errorCode": checkpoint.error_code,
        **result,
    }


def _event(standing: EventStanding) -> JsonObject:
    return {
        "event": standing.event,
        "taken": standing.is_taken,
        "allowedRoles": [*standing.allowed_roles],
        "states": [*standing.states],
        "obstacles": [each.value for each in standing.obstacles],
    }
