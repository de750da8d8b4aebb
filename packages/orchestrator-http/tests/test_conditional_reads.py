"""Reads that cost nothing while nothing changes."""

import asyncio
from collections.abc import Collection, Mapping
from uuid import UUID, uuid4

import pytest
from attrs import evolve
from tests.plugins.http_service import API, HttpService, http_service, json_of, problem_of

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.change_marks import ChangeMarks
from orchestrator_http.change_poll import ChangePoll, WatchedRequest

COLLEAGUE = {"sub": "clerk-2"}


@pytest.fixture
async def service() -> HttpService:
    ready = http_service()
    await ready.published_flow()
    return ready


@pytest.fixture
async def request_path(service: HttpService) -> str:
    return f"{API}/requests/{await service.created_request()}"


async def accept(service: HttpService, request_path: str) -> str:
    answer = await service.call(
        "POST",
        f"{request_path}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "k", "If-Match": "*"},
    )
    assert answer.status_code == 202
    return answer.headers["Location"]


@pytest.mark.parametrize("held", ['"0"', 'W/"0"', '"x", "0"', "*", ' "0" ,'])
async def test_a_reader_whose_copy_is_current_gets_304(
    service: HttpService, request_path: str, held: str
) -> None:
    answer = await service.call("GET", request_path, headers={"If-None-Match": held})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["ETag"] == '"0"'
    assert answer.headers["Vary"] == "Authorization"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "Content-Type" not in answer.headers


async def test_a_reader_whose_copy_is_old_gets_the_new_one(service: HttpService, request_path: str) -> None:
    await accept(service, request_path)
    answer = await service.call("GET", request_path, headers={"If-None-Match": '"0"'})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')


async def test_an_execution_has_the_tag_of_what_is_shown(service: HttpService, request_path: str) -> None:
    location = await accept(service, request_path)
    first = await service.call("GET", location)
    other = await service.call("GET", location, actor=COLLEAGUE)
    assert first.headers["ETag"] == other.headers["ETag"]
    known = await service.call("GET", location, headers={"If-None-Match": first.headers["ETag"]})
    assert known.status_code == 304
    assert known.headers["Retry-After"] == "1"


async def test_a_tag_that_is_not_well_formed_is_refused_with_a_hint(
    service: HttpService, request_path: str
) -> None:
    problem = problem_of(await service.call("GET", request_path, headers={"If-None-Match": "0"}), 400)
    assert problem["code"] == "INVALID_HEADER"
    assert 'If-None-Match: "7"' in str(problem["detail"])


async def test_what_is_not_visible_is_404_whatever_the_reader_has(
    service: HttpService, request_path: str
) -> None:
    stranger = {"sub": "clerk-3", "business_scopes": ["SOUTH"]}
    answer = await service.call(
        "GET", request_path, actor=stranger, headers={"If-None-Match": "*", "Prefer": "wait=30"}
    )
    assert problem_of(answer, 404)["code"] == "NOT_FOUND"


@pytest.mark.parametrize("held", [{"If-None-Match": '"0"'}, {}], ids=["with-a-copy", "without"])
async def test_a_wait_ends_when_what_is_shown_changes(
    service: HttpService, request_path: str, held: Mapping[str, str]
) -> None:
    waiting = asyncio.create_task(service.call("GET", request_path, headers={**held, "Prefer": "wait=20"}))
    await _is_waiting(service)
    await accept(service, request_path)
    answer = await waiting
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
    assert answer.headers["Preference-Applied"] == "wait=20"


async def test_news_are_not_waited_for(service: HttpService, request_path: str) -> None:
    answer = await service.call("GET", request_path, headers={"If-None-Match": '"9"', "Prefer": "wait=30"})
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (200, "wait=30")


async def test_no_wait_is_longer_than_30_seconds(service: HttpService, request_path: str) -> None:
    answer = await service.call(
        "GET", request_path, headers={"If-None-Match": '"9"', "Prefer": "respond-async, Wait=9999;x=1"}
    )
    assert answer.headers["Preference-Applied"] == "wait=30"


@pytest.mark.parametrize("preference", ["wait=0", "wait=-1", "wait=x", "wait", "wait=1.5", "return=minimal"])
async def test_a_preference_that_can_t_be_honoured_is_ignored(
    service: HttpService, request_path: str, preference: str
) -> None:
    answer = await service.call("GET", request_path, headers={"Prefer": preference})
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers


async def test_a_wait_without_news_ends_in_304(service: HttpService, request_path: str) -> None:
    answer = await service.call("GET", request_path, headers={"If-None-Match": '"0"', "Prefer": "wait=1"})
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (304, "wait=1")


async def test_what_has_ended_is_not_waited_for(service: HttpService, request_path: str) -> None:
    location = await accept(service, request_path)
    _end_executions(service)
    ended = await service.call("GET", location, headers={"Prefer": "wait=30"})
    assert json_of(ended)["status"] == "FAILED"
    again = await service.call(
        "GET", location, headers={"If-None-Match": ended.headers["ETag"], "Prefer": "wait=30"}
    )
    assert again.status_code == 304
    assert not _waiters(service)


async def test_a_wait_for_an_execution_ends_with_its_end(service: HttpService, request_path: str) -> None:
    location = await accept(service, request_path)
    waiting = asyncio.create_task(service.call("GET", location, headers={"Prefer": "wait=20"}))
    await _is_waiting(service)
    _end_executions(service)
    assert json_of(await waiting)["status"] == "FAILED"


async def test_a_process_that_drains_answers_at_once() -> None:
    draining: list[bool] = []
    service = http_service()
    poll = service.services.change_poll
    poll.draining = lambda: bool(draining)
    await service.published_flow()
    path = f"{API}/requests/{await service.created_request()}"
    waiting = asyncio.create_task(
        service.call("GET", path, headers={"If-None-Match": '"0"', "Prefer": "wait=30"})
    )
    await _is_waiting(service)
    draining.append(True)
    assert (await waiting).status_code == 304
    later = await service.call("GET", path, headers={"If-None-Match": '"0"', "Prefer": "wait=30"})
    assert later.status_code == 304
    assert "Preference-Applied" not in later.headers


class CountedMarks(ChangeMarks):
    """Marks that a test sets, and the questions that were asked for them."""

    def __init__(self) -> None:
        self.now: dict[UUID, str] = {}
        self.questions: list[int] = []
        self.down = False
        self.broken = False

    async def marks(
        self, requests: Collection[RequestId], executions: Collection[ExecutionId]
    ) -> Mapping[UUID, str]:
        self.questions.append(len(requests) + len(executions))
        if self.down:
            raise StorageUnavailable("The store did not answer.")
        if self.broken:
            raise ArithmeticError("broken")
        return {each: self.now[each] for each in (*requests, *executions)}


class Rounds:
    """Pauses that end when a test says so."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._go = asyncio.Event()

    async def pause(self, _seconds: float) -> None:
        self.begun.set()
        await self._go.wait()
        self._go.clear()

    def go_on(self) -> None:
        self._go.set()

    async def next(self) -> None:
        """Let one round run, and wait for the beginning of the pause behind it."""
        await self.begun.wait()
        self.begun.clear()
        self._go.set()
        await self.begun.wait()


async def test_all_waiters_of_a_process_share_one_question_a_round() -> None:
    marks, rounds = CountedMarks(), Rounds()
    poll = ChangePoll(marks=marks, pause=rounds.pause)
    watched = [WatchedRequest(RequestId(uuid4())) for _ in range(40)]
    marks.now = {each.id: "1" for each in watched}
    twice = [*watched, *watched]
    tasks = [asyncio.create_task(poll.changed(each, "1", timeout_seconds=60)) for each in twice]
    await rounds.next()
    await rounds.next()
    assert marks.questions == [40, 40]
    marks.down = True
    await rounds.next()
    marks.down = False
    marks.now[watched[0].id] = "2"
    await rounds.next()
    changed = [task for task, each in zip(tasks, twice, strict=True) if each is watched[0]]
    await asyncio.gather(*changed)
    assert [task for task in tasks if task.done()] == changed
    assert marks.questions == [40, 40, 40, 40]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_round_that_breaks_is_told_and_the_next_one_answers_all_the_same() -> None:
    marks, rounds, told = CountedMarks(), Rounds(), list[Exception]()
    poll = ChangePoll(marks=marks, pause=rounds.pause, disturbed=told.append)
    watched = WatchedRequest(RequestId(uuid4()))
    marks.now, marks.broken = {watched.id: "2"}, True
    waiting = asyncio.create_task(poll.changed(watched, "1", timeout_seconds=60))
    async with asyncio.timeout(10):
        await rounds.next()
    assert [type(fault) for fault in told] == [ArithmeticError]
    assert not waiting.done()
    marks.broken = False
    async with asyncio.timeout(10):
        rounds.go_on()
        await waiting


async def test_waiters_beyond_the_bound_are_not_taken() -> None:
    rounds = Rounds()
    poll = ChangePoll(marks=CountedMarks(), pause=rounds.pause, waiters_max=1)
    task = asyncio.create_task(poll.changed(WatchedRequest(RequestId(uuid4())), "1", timeout_seconds=60))
    await rounds.begun.wait()
    assert not poll.takes_more
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert poll.takes_more


def _waiters(service: HttpService) -> int:
    return len(service.services.change_poll._waiting)  # noqa: SLF001 - what isn't there can't be seen from outside


async def _is_waiting(service: HttpService) -> None:
    """Return once a round of the poll has begun, which only a waiter begins."""
    begun, poll = asyncio.Event(), service.services.change_poll

    async def pause(seconds: float) -> None:
        begun.set()
        await asyncio.sleep(seconds)

    poll.pause = pause
    await begun.wait()


def _end_executions(service: HttpService) -> None:
    rows = service.store.executions.rows
    for key, row in rows.items():
        rows[key] = evolve(row, execution=evolve(row.execution, status=ExecutionStatus.FAILED))
