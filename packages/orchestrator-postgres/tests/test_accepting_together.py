"""Events that come at one moment share a transaction, and each is answered as if it had come alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NoReturn

import pytest
from attrs import evolve, field, frozen
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import OrchestratorError, RequestBusy
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import EventKey, IdempotencyKey, RequestId, Role
from orchestrator_domain.ports.event_judgement import AnsweredEvent, NewExecution, RequestAtHand
from orchestrator_domain.ports.flow_store import FlowStore
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import (
    AcceptEventCommand,
    AnyRevision,
    Precondition,
    RevisionIn,
)
from orchestrator_domain.testing.contracts.event_judgement_contract import addressed, taking
from orchestrator_domain.testing.contracts.fenced_writes import LENT
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import CLERK, STRANGER
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.usecases.accept_event import AcceptEvent, EventAccepted
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.fault_translation import StorageRefused
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork

VISITOR = evolve(CLERK, roles=frozenset({Role("VISITOR")}))


@frozen(kw_only=True)
class Event:
    """One event as a client sends it, to a free request or to one whose CHECK was accepted under `check-1`."""

    name: str
    event: str = "CHECK"
    data: JsonObject = field(factory=dict)
    key: str = "check-1"
    precondition: Precondition = field(factory=AnyRevision)
    actor: Actor = CLERK
    accepted_before: bool = False

    def to(self, request_id: RequestId) -> AcceptEventCommand:
        return AcceptEventCommand(
            request_id=request_id,
            event=EventKey(self.event),
            data=self.data,
            key=IdempotencyKey(self.key),
            precondition=self.precondition,
        )


FIRST = Event(name="first")
EVERY_OUTCOME = (
    FIRST,
    Event(name="another free request", event="WITHDRAW"),
    Event(name="repeat", accepted_before=True),
    Event(name="same key, other command", event="WITHDRAW", accepted_before=True),
    Event(name="busy", key="check-2", accepted_before=True),
    Event(name="revision moved", precondition=RevisionIn(tags=("7",))),
    Event(name="revision as read", precondition=RevisionIn(tags=("0",))),
    Event(name="no such event", event="LEND"),
    Event(name="no role", actor=VISITOR),
    Event(name="repeat without a role", actor=VISITOR, accepted_before=True),
    Event(name="not visible", actor=STRANGER),
    Event(name="data out of schema", data={"surprise": True}),
)

type Outcome = tuple[str, bool, ExecutionStatus, int] | tuple[str, str | None]


@frozen(kw_only=True)
class Office:
    """The use case over one store, as one process has it."""

    cases: StoredCases
    stories: UnitOfWork

    @property
    def accept(self) -> AcceptEvent:
        return AcceptEvent(
            unit_of_work=self.stories,
            flows=FlowLibrary(),
            identifiers=self.cases.identifiers,
            wakeup=InMemoryWakeup(ManualClock()),
            observer=RecordingObserver(),
        )

    async def prepared(self) -> Sequence[tuple[Event, RequestId]]:
        """Give each kind of event a request in the state that it needs."""
        requests = [await self.cases.request() for _ in EVERY_OUTCOME]
        for event, request in zip(EVERY_OUTCOME, requests, strict=True):
            if event.accepted_before:
                await self.accept(FIRST.to(request.id), CLERK)
        return [(event, request.id) for event, request in zip(EVERY_OUTCOME, requests, strict=True)]

    async def outcome(self, accepting: Awaitable[EventAccepted]) -> Outcome:
        try:
            accepted = await accepting
        except OrchestratorError as refusal:
            return (refusal.code, refusal.pointer)
        execution = accepted.execution
        return (execution.event, accepted.replayed, execution.status, execution.accepted_revision)

    async def left(self, request_id: RequestId) -> tuple[Any, ...]:
        """Return what an event left of its request: its revision, whether it is busy, and its history."""
        seen = await self.cases.seen(request_id)
        history = list(await self.cases.harness.history(request_id))
        assert verify_chain(history) is None
        return (
            seen.request.revision,
            seen.active_execution is not None,
            [(entry.kind, entry.actor, entry.detail) for entry in history],
        )


@frozen
class StoryByStory(UnitOfWork):
    """Judge each event in a story of its own, as the port does where nobody brings them together."""

    stories: UnitOfWork

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self.stories.run(story)


def office(harness: PostgresHarness, stories: PostgresUnitOfWork | None = None) -> Office:
    return Office(cases=StoredCases(harness=harness), stories=stories or harness.unit_of_work())


async def transactions(harness: PostgresHarness) -> int:
    """Count the transactions that have written the stored executions."""
    (row,) = await harness.rows(
        b"SELECT count(DISTINCT xmin::text) AS transactions FROM orchestrator.execution"
    )
    return int(row["transactions"])


async def test_whatever_comes_at_one_moment_is_answered_and_stored_as_if_each_had_come_alone(
    harness: PostgresHarness,
) -> None:
    desk = office(harness)
    together, alone = await desk.prepared(), await desk.prepared()
    answered_together = await asyncio.gather(
        *(desk.outcome(desk.accept(event.to(request), event.actor)) for event, request in together)
    )
    singly = evolve(desk, stories=StoryByStory(desk.stories))
    answered_alone = [
        await desk.outcome(singly.accept(event.to(request), event.actor)) for event, request in alone
    ]
    assert answered_together == answered_alone
    assert len(set(answered_alone)) == 10
    for (event, in_batch), (_, by_itself) in zip(together, alone, strict=True):
        assert await desk.left(in_batch) == await desk.left(by_itself), event.name


async def test_events_that_come_at_one_moment_share_one_transaction(harness: PostgresHarness) -> None:
    desk = office(harness)
    requests = [await desk.cases.request() for _ in range(20)]
    await asyncio.gather(*(desk.accept(FIRST.to(request.id), CLERK) for request in requests))
    assert await transactions(harness) == 1


class OnlyByKey(PostgresEngine):
    """An engine whose other connections nobody may borrow."""

    def connection(self) -> NoReturn:
        raise AssertionError("a batch keeps its plans where rows are looked up by key")


async def test_events_are_judged_where_plans_look_rows_up_however_small_the_tables_were_at_first(
    harness: PostgresHarness,
) -> None:
    async with OnlyByKey(harness.settings, connections_min=0) as engine:
        desk = office(harness, PostgresUnitOfWork(engine))
        await desk.accept(FIRST.to((await desk.cases.request()).id), CLERK)
        async with engine.connection_by_key() as connection:
            shown = await (await connection.execute(b"SHOW enable_seqscan")).fetchone()
    assert shown == {"enable_seqscan": "off"}


async def test_an_event_that_can_not_be_stored_fails_alone(harness: PostgresHarness) -> None:
    cases, stories = StoredCases(harness=harness), harness.unit_of_work()
    requests = [await cases.request() for _ in range(4)]
    sound = taking(cases)

    async def too_long(found: RequestAtHand | None, flows: FlowStore) -> NewExecution | AnsweredEvent:
        taken = await sound(found, flows)
        assert isinstance(taken, NewExecution)
        return evolve(taken, execution=evolve(taken.execution, event=EventKey("E" * 101)))

    judges = [sound, too_long, sound, sound]
    answers = await asyncio.gather(
        *(
            stories.judge_event(addressed(request.id), judge)
            for request, judge in zip(requests, judges, strict=True)
        ),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [
        AnsweredEvent,
        StorageRefused,
        AnsweredEvent,
        AnsweredEvent,
    ]
    blocked = [(await cases.seen(request.id)).active_execution is not None for request in requests]
    assert blocked == [True, False, True, True]


@pytest.mark.parametrize("fault", [CuttingProxy.cut_next_commit, CuttingProxy.lose_next_commit])
async def test_acceptances_whose_shared_commit_got_no_answer_are_stored_once_and_each_is_answered(
    harness: PostgresHarness, fault: Callable[[CuttingProxy], None]
) -> None:
    async with CuttingProxy(harness.database.runtime_url) as proxy:
        settings = ConnectionSettings(url=proxy.url, application_name="orchestrator-proxied")
        async with PostgresEngine(settings, connections_min=0) as engine:
            desk = office(harness, PostgresUnitOfWork(engine))
            requests = [await desk.cases.request() for _ in range(5)]
            fault(proxy)
            accepted = await asyncio.gather(
                *(desk.accept(FIRST.to(request.id), CLERK) for request in requests)
            )
            assert proxy.cuts == 1
    assert [one.replayed for one in accepted] == [False] * 5
    for request, one in zip(requests, accepted, strict=True):
        assert (await desk.cases.seen(request.id)).active_execution == one.execution.id
        revision, _, history = await desk.left(request.id)
        assert (revision, len(history)) == (1, 2)


async def test_a_server_that_never_answers_a_shared_acceptance_keeps_no_event_waiting_for_ever(
    harness: PostgresHarness,
) -> None:
    async with CuttingProxy(harness.database.runtime_url) as proxy:
        settings = ConnectionSettings(url=proxy.url, application_name="orchestrator-proxied")
        async with PostgresEngine(settings, connections_min=0) as engine:
            desk = office(harness, PostgresUnitOfWork(engine, patience_seconds=0.1))
            under_way, behind = [await desk.cases.request() for _ in range(2)]
            proxy.hold_next(b"COMMIT")
            first = asyncio.create_task(desk.accept(FIRST.to(under_way.id), CLERK))
            async with asyncio.timeout(60):
                await proxy.held.wait()
                accepted = [await first, await desk.accept(FIRST.to(behind.id), CLERK)]
            proxy.let_answers_through()
    assert [one.replayed for one in accepted] == [False, False]
    for request, one in zip((under_way, behind), accepted, strict=True):
        assert (await desk.cases.seen(request.id)).active_execution == one.execution.id
        revision, _, history = await desk.left(request.id)
        assert (revision, len(history)) == (1, 2)


async def test_two_processes_that_accept_one_key_at_once_have_one_execution(
    harness: PostgresHarness,
) -> None:
    first, second = office(harness), office(harness)
    requests = [await first.cases.request() for _ in range(10)]
    answers = await asyncio.gather(
        *(desk.accept(FIRST.to(request.id), CLERK) for request in requests for desk in (first, second))
    )
    for one, other in zip(answers[::2], answers[1::2], strict=True):
        assert one.execution.id == other.execution.id
        assert sorted((one.replayed, other.replayed)) == [False, True]


async def test_an_acceptance_waits_for_a_completion_that_came_first_and_keeps_nobody_else_waiting(
    harness: PostgresHarness,
) -> None:
    desk = office(harness)
    claimed, free = await desk.cases.claimed(), await desk.cases.request()
    fact = desk.cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    async with harness.superuser.transaction():
        # Its completion holds the request, and waits for the execution.
        await harness.rows(
            b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", claimed.execution.id
        )
        completing = asyncio.create_task(
            harness.queue().complete(claimed.fence, LENT, writes=[], succeeded=[], fact=fact)
        )
        await _waiting_for_locks(harness, 1)
        late = asyncio.create_task(
            desk.outcome(desk.accept(evolve(FIRST, key="check-2").to(claimed.request.id), CLERK))
        )
        await desk.accept(FIRST.to(free.id), CLERK)
        await _waiting_for_locks(harness, 2)
    await completing
    # The request is LENT by then, and no transition leaves that state.
    assert await late == ("INVALID_EVENT", "/event")


async def test_a_completion_waits_for_an_acceptance_that_came_first_which_finds_the_request_busy(
    harness: PostgresHarness,
) -> None:
    desk = office(harness)
    claimed = await desk.cases.claimed()
    fact = desk.cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    locked, decide = asyncio.Event(), asyncio.Event()

    async def slow(found: RequestAtHand | None, flows: FlowStore) -> NewExecution | AnsweredEvent:
        locked.set()
        await decide.wait()
        return await taking(desk.cases, key="check-2")(found, flows)

    accepting = asyncio.create_task(
        desk.stories.judge_event(addressed(claimed.request.id, key="check-2"), slow)
    )
    await locked.wait()
    completing = asyncio.create_task(
        harness.queue().complete(claimed.fence, LENT, writes=[], succeeded=[], fact=fact)
    )
    await _waiting_for_locks(harness, 1)
    decide.set()
    with pytest.raises(RequestBusy):
        await accepting
    await completing
    assert (await desk.cases.seen(claimed.request.id)).request.state == LENT.state


async def test_a_request_is_read_alike_alone_and_together(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    execution = await cases.accepted()
    request_id = str(execution.request_id)
    values: JsonObject = {"request_id": request_id, "subject": CLERK.subject, "scopes": ["NORTH"]}
    alone = await (await harness.superuser.execute(sql_file("read_visible_request"), values)).fetchall()
    rows = rows_parameter([dump_json(values)])
    together = await (await harness.superuser.execute(sql_file("read_visible_requests"), rows)).fetchall()
    assert together == alone
    assert len(alone) == 1


async def test_whoever_stops_waiting_takes_nobody_along(harness: PostgresHarness) -> None:
    desk = office(harness)
    requests = [await desk.cases.request() for _ in range(3)]
    accepting = [asyncio.ensure_future(desk.accept(FIRST.to(one.id), CLERK)) for one in requests]
    await asyncio.sleep(0)
    accepting[0].cancel()
    answers = await asyncio.gather(*accepting, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert all(isinstance(answer, EventAccepted) for answer in answers[1:])


async def _waiting_for_locks(harness: PostgresHarness, count: int) -> None:
    """Return as soon as so many sessions wait for a lock."""
    waiting = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(60):
        while (await asyncio.to_thread(harness.database.execute, waiting)) != [(count,)]:
            pass
