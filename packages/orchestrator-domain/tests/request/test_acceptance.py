"""Which refusal comes first, what a repeat is, and what an acceptance leaves behind."""

from collections.abc import Callable

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    EvaluationError,
    GuardNotSatisfied,
    IdempotencyConflict,
    InvalidEvent,
    InvalidInput,
    OrchestratorError,
    RequestBusy,
    RequestErased,
    RevisionMismatch,
)
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import (
    BusinessScope,
    CorrelationId,
    EventKey,
    ExecutionId,
    FlowId,
    FlowKey,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Revision,
    Role,
    Sha256Hex,
    StateKey,
)
from orchestrator_domain.request.acceptance import (
    AcceptanceDecision,
    Accepted,
    AcceptEventCommand,
    AnyRevision,
    Precondition,
    Repeated,
    RevisionIn,
    command_hash,
    decide_acceptance,
    revision_matches,
)
from orchestrator_domain.request.request import FlowReference, Request
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, flow_document
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

IDENTIFIERS = SequentialIdentifiers()
EXECUTION_ID, OTHER_EXECUTION = ExecutionId(IDENTIFIERS.uuid()), ExecutionId(IDENTIFIERS.uuid())
MARKER = "marker-7c1"
VISITOR = evolve(CLERK, roles=frozenset({Role("VISITOR")}))

# Something to the guard's liking, and something not.
GUARD: JsonObject = {
    "op": "AND",
    "args": [
        {"op": "EXISTS", "arg": {"path": "/request/data/item"}},
        {"op": "NOT", "arg": {"op": "EXISTS", "arg": {"path": "/request/data/lent"}}},
    ],
}
NOTE_SCHEMA: JsonObject = {"type": "object", "properties": {"note": {"type": "string"}}}
TASK_SCHEMA: JsonObject = {"type": "object", "properties": {"note": {"maxLength": 5}}}


def flow(*, guard: JsonObject = GUARD) -> ReadyFlow:
    """Return the lending flow: CHECK is guarded, and its event and its task both have a schema."""
    document = flow_document()
    check, withdraw = members(document, "transitions")
    checked, withdrawn = members(document, "events")
    task = members(document, "tasks")[0]
    changed: JsonObject = {
        **document,
        "transitions": [{**check, "guard": guard}, withdraw],
        "events": [{**checked, "inputSchema": NOTE_SCHEMA}, withdrawn],
        "tasks": [{**task, "inputSchema": TASK_SCHEMA}],
    }
    return ReadyFlow(definition=read_flow(changed))


def members(document: JsonObject, key: str) -> list[JsonObject]:
    found = document[key]
    assert isinstance(found, list)
    return [member for member in found if isinstance(member, dict)]


FLOW = flow()
REQUEST = Request(
    id=RequestId(IDENTIFIERS.uuid()),
    type_key=RequestTypeKey("LENDING"),
    flow=FlowReference(
        id=FlowId(IDENTIFIERS.uuid()), key=FlowKey("LENDING"), version=1, checksum=Sha256Hex("a" * 64)
    ),
    state=StateKey("OPEN"),
    data={"item": "ladder"},
    owner=CLERK.subject,
    scope=BusinessScope("NORTH"),
    revision=Revision(7),
)
COMMAND = AcceptEventCommand(
    request_id=REQUEST.id,
    event=EventKey("CHECK"),
    data={"note": "soon"},
    key=IdempotencyKey("check-1"),
    precondition=RevisionIn(tags=("7",)),
    correlation_id=CorrelationId("c-1"),
)


@frozen(kw_only=True)
class Situation:
    """Everything that a decision depends on; as it stands, CHECK is accepted."""

    command: AcceptEventCommand = COMMAND
    actor: Actor = CLERK
    request: Request = REQUEST
    flow: ReadyFlow = FLOW
    earlier: Execution | None = None
    active: ExecutionId | None = None

    def decided(self) -> AcceptanceDecision:
        return decide_acceptance(
            self.command,
            self.actor,
            request=self.request,
            flow=self.flow,
            earlier=self.earlier,
            active=self.active,
            execution_id=EXECUTION_ID,
        )


def accepted(situation: Situation | None = None) -> Accepted:
    decision = (situation or Situation()).decided()
    assert isinstance(decision, Accepted)
    return decision


def test_an_acceptance_bumps_the_revision_and_nothing_else_of_the_request() -> None:
    assert accepted().request == evolve(REQUEST, revision=Revision(8))


def test_an_acceptance_fixes_all_that_the_execution_needs() -> None:
    assert accepted().execution == Execution(
        id=EXECUTION_ID,
        request_id=REQUEST.id,
        idempotency_key=COMMAND.key,
        payload_hash=command_hash(COMMAND),
        actor=CLERK,
        event=COMMAND.event,
        event_data=COMMAND.data,
        transition=FLOW.definition.transitions[0].id,
        from_state=StateKey("OPEN"),
        accepted_revision=Revision(8),
        status=ExecutionStatus.PENDING,
        correlation_id=CorrelationId("c-1"),
    )


# The order of refusals. Each flaw alone is refused in its way; of two flaws the earlier one speaks.


def _conflict(situation: Situation) -> Situation:
    return evolve(situation, earlier=evolve(accepted().execution, payload_hash=Sha256Hex("b" * 64)))


def _stale(situation: Situation) -> Situation:
    return evolve(situation, request=evolve(situation.request, revision=Revision(8)))


def _busy(situation: Situation) -> Situation:
    return evolve(situation, active=OTHER_EXECUTION)


def _erased(situation: Situation) -> Situation:
    return evolve(situation, request=evolve(situation.request, data_erased_at=ManualClock().now()))


def _no_transition(situation: Situation) -> Situation:
    return evolve(situation, request=evolve(situation.request, state=StateKey("LENT")))


def _without_role(situation: Situation) -> Situation:
    return evolve(situation, actor=VISITOR)


def _invalid_data(situation: Situation) -> Situation:
    return evolve(situation, command=evolve(situation.command, data={"note": 7}))


def _guard_false(situation: Situation) -> Situation:
    return evolve(situation, request=evolve(situation.request, data={"item": "ladder", "lent": True}))


FLAWS: list[tuple[Callable[[Situation], Situation], type[OrchestratorError], str]] = [
    (_conflict, IdempotencyConflict, "IDEMPOTENCY_CONFLICT"),
    (_stale, RevisionMismatch, "REVISION_MISMATCH"),
    (_busy, RequestBusy, "REQUEST_BUSY"),
    (_erased, RequestErased, "REQUEST_ERASED"),
    (_no_transition, InvalidEvent, "INVALID_EVENT"),
    (_without_role, AccessDenied, "ACCESS_DENIED"),
    (_invalid_data, InvalidInput, "SCHEMA_VIOLATION"),
    (_guard_false, GuardNotSatisfied, "GUARD_NOT_SATISFIED"),
]
PAIRS = [
    pytest.param(first, second, id=f"{FLAWS[first][2]}-before-{FLAWS[second][2]}")
    for first in range(len(FLAWS))
    for second in range(first, len(FLAWS))
    # A repeat is judged by its own role first, and in a state without transition there is nothing else to judge.
    if (FLAWS[first][0], FLAWS[second][0]) != (_conflict, _without_role)
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_refusals_come_in_the_order_of_the_specification(first: int, second: int) -> None:
    flawed = FLAWS[first][0](FLAWS[second][0](Situation()))
    with pytest.raises(FLAWS[first][1]) as refusal:
        flawed.decided()
    assert refusal.value.code == FLAWS[first][2]


def test_a_stale_command_is_told_the_revision_and_a_busy_one_the_execution() -> None:
    with pytest.raises(RevisionMismatch) as stale:
        _stale(Situation()).decided()
    with pytest.raises(RequestBusy) as busy:
        _busy(Situation()).decided()
    assert (stale.value.current, busy.value.active_execution) == (8, OTHER_EXECUTION)


# Preconditions.


@pytest.mark.parametrize(
    ("precondition", "matches"),
    [
        (AnyRevision(), True),
        (RevisionIn(tags=("7",)), True),
        (RevisionIn(tags=("6", "7")), True),
        (RevisionIn(tags=("6", "8")), False),
        (RevisionIn(tags=("07",)), False),
        (RevisionIn(tags=()), False),
    ],
)
def test_a_precondition_is_compared_with_the_revisions_digits(
    precondition: Precondition, *, matches: bool
) -> None:
    assert revision_matches(precondition, Revision(7)) is matches


def test_any_revision_does_not_lift_the_block_of_an_active_execution() -> None:
    with pytest.raises(RequestBusy):
        _busy(Situation(command=evolve(COMMAND, precondition=AnyRevision()))).decided()


@given(tags=st.lists(st.sampled_from(["1", "2", "10"]), min_size=1, max_size=5))
def test_order_and_repetition_of_tags_make_no_other_command(tags: list[str]) -> None:
    written = evolve(COMMAND, precondition=RevisionIn(tags=tuple(tags)))
    tidy = evolve(COMMAND, precondition=RevisionIn(tags=tuple(sorted(set(tags)))))
    assert command_hash(written) == command_hash(tidy)


def test_the_command_hash_covers_event_data_and_precondition_and_nothing_else() -> None:
    different = [
        evolve(COMMAND, event=EventKey("WITHDRAW")),
        evolve(COMMAND, data={"note": "now"}),
        evolve(COMMAND, precondition=RevisionIn(tags=("8",))),
        evolve(COMMAND, precondition=AnyRevision()),
        evolve(COMMAND, precondition=RevisionIn(tags=("*",))),
    ]
    alike = [
        evolve(COMMAND, key=IdempotencyKey("check-2")),
        evolve(COMMAND, correlation_id=CorrelationId("c-2")),
    ]
    assert len({command_hash(command) for command in (COMMAND, *different)}) == 6
    assert {command_hash(command) for command in alike} == {command_hash(COMMAND)}


# Repeats.


@pytest.mark.parametrize("status", ExecutionStatus)
@pytest.mark.parametrize("actor", [CLERK, COLLEAGUE])
def test_a_repeat_finds_its_execution_whatever_became_of_it(actor: Actor, status: ExecutionStatus) -> None:
    earlier = evolve(accepted().execution, status=status)
    moved = evolve(REQUEST, revision=Revision(99), state=StateKey("LENT"), data={})
    repeat = Situation(actor=actor, request=moved, earlier=earlier, active=OTHER_EXECUTION)
    assert repeat.decided() == Repeated(execution=earlier)


def test_a_repeat_by_somebody_without_the_role_is_denied() -> None:
    with pytest.raises(AccessDenied):
        Situation(actor=VISITOR, earlier=accepted().execution).decided()


@pytest.mark.parametrize(
    "command",
    [
        evolve(COMMAND, data={"note": "now"}),
        evolve(COMMAND, event=EventKey("WITHDRAW"), data={}),
        evolve(COMMAND, precondition=AnyRevision()),
    ],
)
def test_a_key_that_another_command_used_is_a_conflict(command: AcceptEventCommand) -> None:
    with pytest.raises(IdempotencyConflict):
        Situation(command=command, earlier=accepted().execution).decided()


# Data and guards.


@pytest.mark.parametrize(
    ("data", "pointers"),
    [
        ({"note": 7}, ["/data/note"]),
        ({"note": "much too long"}, ["/data/note"]),
        ({"note": "short"}, []),
        ({}, []),
    ],
)
def test_both_the_events_and_the_tasks_schema_are_enforced(data: JsonObject, pointers: list[str]) -> None:
    situation = Situation(command=evolve(COMMAND, data=data))
    if not pointers:
        assert accepted(situation).execution.event_data == data
        return
    with pytest.raises(InvalidInput) as refusal:
        situation.decided()
    assert [place for place, _ in refusal.value.violations] == pointers
    assert refusal.value.pointer == pointers[0]


def test_an_event_without_task_or_guard_needs_only_its_own_schema() -> None:
    withdraw = evolve(COMMAND, event=EventKey("WITHDRAW"), data={})
    assert accepted(Situation(command=withdraw)).execution.transition == "withdraw"


@pytest.mark.parametrize(
    ("data", "satisfied"),
    [
        ({"item": None}, True),
        ({"item": "x", "other": 1}, True),
        ({}, False),
        ({"item": "x", "lent": None}, False),
    ],
)
def test_a_guard_sees_what_exists_null_included(data: JsonObject, *, satisfied: bool) -> None:
    situation = Situation(request=evolve(REQUEST, data=data))
    if satisfied:
        accepted(situation)
        return
    with pytest.raises(GuardNotSatisfied):
        situation.decided()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("/event/data/note", "soon"),
        ("/actor/subject", "clerk-1"),
        ("/request/data/item", "ladder"),
    ],
)
def test_a_guard_reads_event_actor_and_the_current_data(left: str, right: str) -> None:
    guard: JsonObject = {"op": "EQ", "left": {"path": left}, "right": {"literal": right}}
    accepted(Situation(flow=flow(guard=guard)))
    with pytest.raises(GuardNotSatisfied):
        Situation(flow=flow(guard={**guard, "op": "NEQ"})).decided()


def test_a_guard_that_can_not_be_evaluated_says_where() -> None:
    guard: JsonObject = {"op": "GT", "left": {"path": "/request/data/weight"}, "right": {"literal": 3}}
    with pytest.raises(EvaluationError) as refusal:
        Situation(flow=flow(guard=guard)).decided()
    assert refusal.value.pointer == "/request/data/weight"


GREATER = flow(
    guard={"op": "GT", "left": {"path": "/request/data/item"}, "right": {"path": "/event/data/note"}}
)
VALUES: st.SearchStrategy[JsonValue] = st.sampled_from(
    [MARKER, MARKER * 9, [MARKER], {"deep": MARKER}, 4_711_815]
)


@given(
    note=VALUES,
    item=VALUES,
    ready=st.sampled_from([FLOW, GREATER]),
    flaw=st.sampled_from([None, *(flaw for flaw, _, _ in FLAWS)]),
)
def test_no_refusal_quotes_a_value(
    note: JsonValue, item: JsonValue, ready: ReadyFlow, flaw: Callable[[Situation], Situation] | None
) -> None:
    situation = Situation(
        command=evolve(COMMAND, data={"note": note}), request=evolve(REQUEST, data={"item": item}), flow=ready
    )
    try:
        (situation if flaw is None else flaw(situation)).decided()
    except OrchestratorError as refusal:
        told = (refusal.message, refusal.pointer, getattr(refusal, "violations", ()))
        assert "marker" not in repr(told)
        assert "4711815" not in repr(told)
