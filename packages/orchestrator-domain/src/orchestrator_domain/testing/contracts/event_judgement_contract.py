"""What `UnitOfWork.judge_event` promises."""

import asyncio

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import InvalidEvent, NotFound, RequestBusy
from orchestrator_domain.identifiers import IdempotencyKey, RequestId
from orchestrator_domain.ports.event_judgement import (
    AddressedEvent,
    AnsweredEvent,
    Judge,
    NewExecution,
    RequestAtHand,
)
from orchestrator_domain.ports.flow_store import FlowStore
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import CLERK, STRANGER, execution_of


def addressed(request_id: RequestId, *, key: str = "check-1", actor: Actor = CLERK) -> AddressedEvent:
    return AddressedEvent(request_id=request_id, actor=actor, key=IdempotencyKey(key))


def taking(cases: StoredCases, *, key: str = "check-1") -> Judge:
    """Take CHECK on a free request, answer a repeat with its execution, and refuse the rest."""

    async def judge(found: RequestAtHand | None, _: FlowStore) -> NewExecution | AnsweredEvent:
        if found is None:
            raise NotFound("There is no such request.")
        if found.earlier is not None:
            return AnsweredEvent(request=found.request, execution=found.earlier)
        if found.active_execution is not None:
            raise RequestBusy("It is busy.", active_execution=found.active_execution)
        request = found.request.accepted()
        execution = execution_of(request, cases.identifiers, key=key)
        fact = cases.fact(found.request, AuditKind.EVENT_ACCEPTED, execution.id)
        return NewExecution(request=request, execution=execution, fact=fact)

    return judge


async def refusing(_found: RequestAtHand | None, _flows: FlowStore) -> NewExecution | AnsweredEvent:
    raise InvalidEvent("No transition leaves this state with this event.")


class EventJudgementContract:
    async def test_an_event_that_is_taken_is_stored_with_the_moved_request_and_its_fact(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        answer = await harness.unit_of_work().judge_event(addressed(request.id), taking(cases))
        execution = answer.execution
        seen = await cases.seen(request.id)
        assert seen.active_execution == execution.id
        assert seen.request == evolve(request.accepted(), updated_at=seen.request.updated_at)
        assert await cases.seen_execution(execution.id) == execution
        history = list(await harness.history(request.id))
        assert [entry.kind for entry in history] == [AuditKind.REQUEST_CREATED, AuditKind.EVENT_ACCEPTED]
        assert verify_chain(history) is None

    async def test_a_judge_is_shown_the_request_what_blocks_it_and_what_the_key_has_started(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        shown: list[RequestAtHand | None] = []

        async def judge(found: RequestAtHand | None, flows: FlowStore) -> NewExecution | AnsweredEvent:
            shown.append(found)
            assert found is not None
            assert await flows.find(found.request.flow.id) is not None
            raise InvalidEvent("This judge only looks.")

        request = await cases.request()
        stories = harness.unit_of_work()
        with pytest.raises(InvalidEvent):
            await stories.judge_event(addressed(request.id), judge)
        execution = await cases.accepted(request)
        with pytest.raises(InvalidEvent):
            await stories.judge_event(addressed(request.id), judge)
        with pytest.raises(InvalidEvent):
            await stories.judge_event(addressed(request.id, key="check-2"), judge)
        moved = (await cases.seen(request.id)).request
        assert shown == [
            RequestAtHand(request=request, active_execution=None, earlier=None),
            RequestAtHand(request=moved, active_execution=execution.id, earlier=execution),
            RequestAtHand(request=moved, active_execution=execution.id, earlier=None),
        ]

    async def test_a_request_that_the_actor_can_not_see_is_none(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request, unknown = await cases.request(), RequestId(cases.identifiers.uuid())
        for event in (addressed(request.id, actor=STRANGER), addressed(unknown)):
            with pytest.raises(NotFound):
                await harness.unit_of_work().judge_event(event, taking(cases))
        assert (await cases.seen(request.id)).active_execution is None

    async def test_a_refusal_reaches_whoever_sent_the_event_and_nothing_is_stored(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        with pytest.raises(InvalidEvent):
            await harness.unit_of_work().judge_event(addressed(request.id), refusing)
        assert (await cases.seen(request.id)).request == request
        assert len(await harness.history(request.id)) == 1

    async def test_an_execution_that_is_answered_is_returned_and_nothing_is_stored(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        execution = await cases.accepted()
        event = addressed(execution.request_id)
        answer = await harness.unit_of_work().judge_event(event, taking(cases))
        assert answer.execution == execution
        assert len(await harness.history(execution.request_id)) == 2

    async def test_events_that_come_at_one_moment_are_judged_each_by_itself(
        self, harness: StoreHarness
    ) -> None:
        cases, stories = StoredCases(harness=harness), harness.unit_of_work()
        free, other, refused = [await cases.request() for _ in range(3)]
        repeated = await cases.accepted()
        unknown = RequestId(cases.identifiers.uuid())
        taken, another, *errors, again = await asyncio.gather(
            stories.judge_event(addressed(free.id), taking(cases)),
            stories.judge_event(addressed(other.id), taking(cases)),
            stories.judge_event(addressed(refused.id), refusing),
            stories.judge_event(addressed(unknown), taking(cases)),
            stories.judge_event(addressed(repeated.request_id, key="check-2"), taking(cases, key="check-2")),
            stories.judge_event(addressed(repeated.request_id), taking(cases)),
            return_exceptions=True,
        )
        assert [type(error) for error in errors] == [InvalidEvent, NotFound, RequestBusy]
        assert isinstance(again, AnsweredEvent)
        assert again.execution == repeated
        for request, answer in ((free, taken), (other, another)):
            assert isinstance(answer, AnsweredEvent)
            assert (await cases.seen(request.id)).active_execution == answer.execution.id
            assert verify_chain(await harness.history(request.id)) is None
        assert (await cases.seen(refused.id)).request == refused

    async def test_of_two_events_of_one_request_at_one_moment_the_later_sees_what_the_earlier_left(
        self, harness: StoreHarness
    ) -> None:
        cases, stories = StoredCases(harness=harness), harness.unit_of_work()
        request = await cases.request()
        first, repeat, other = await asyncio.gather(
            stories.judge_event(addressed(request.id), taking(cases)),
            stories.judge_event(addressed(request.id), taking(cases)),
            stories.judge_event(addressed(request.id, key="check-2"), taking(cases, key="check-2")),
            return_exceptions=True,
        )
        executions = [one.execution for one in (first, repeat, other) if isinstance(one, AnsweredEvent)]
        assert len({one.id for one in executions}) == 1
        assert (await cases.seen(request.id)).active_execution == executions[0].id
        assert sum(isinstance(one, RequestBusy) for one in (first, repeat, other)) == 3 - len(executions)
        assert len(await harness.history(request.id)) == 2
