"""Calls are held back by their endpoint's circuit and by their integration's limit, and by nothing else."""

import asyncio

import pytest
from attrs import evolve

from orchestrator_worker.circuit_breaker import CircuitSettings, CircuitState
from orchestrator_worker.deployment_values import WrittenOut
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.provider_answer import (
    BUSY_WAIT_SECONDS,
    Answer,
    CallOutcome,
    HeldBack,
    HoldReason,
    Json,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import CallLimit, Endpoint, Timeouts

BUSY = HeldBack(reason=HoldReason.BUSY, retry_after_seconds=BUSY_WAIT_SECONDS)


def answer(status: int) -> Answer:
    return Answer(status=status, body=Json(value={}))


class Calls:
    """Come to one outcome after the other, or wait until let go."""

    def __init__(self, *outcomes: CallOutcome) -> None:
        self.outcomes = list(outcomes)
        self.made = 0
        self.budgets: list[float] = []
        self.arrived = asyncio.Event()
        self.let_go = asyncio.Event()
        self.let_go.set()

    async def call(self, request: ProviderRequest) -> CallOutcome:
        self.made += 1
        self.budgets.append(request.timeouts.budget_seconds)
        self.arrived.set()
        await self.let_go.wait()
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def request_to(endpoint: str, *, limit: CallLimit | None = None) -> ProviderRequest:
    return ProviderRequest(
        endpoint=Endpoint(
            name=endpoint,
            base_url=WrittenOut(value="http://inventory.test"),
            circuit=CircuitSettings(failures_to_open=2, open_seconds=30),
        ),
        method="GET",
        target="/items",
        timeouts=Timeouts(connect_seconds=0.01, answer_seconds=1, budget_seconds=2),
        answer_bytes_max=1000,
        limit=limit,
    )


async def test_the_state_of_each_circuit_can_be_seen() -> None:
    clock, calls = Clock(), Calls(NoAnswer(), NoAnswer(), answer(200))
    held = HeldCalls(calls, clock=clock)
    assert held.circuits() == {}
    for _ in range(2):
        await held.call(request_to("sick"))
    assert held.circuits() == {"sick": CircuitState.OPEN}
    clock.now, calls.arrived = 31.0, asyncio.Event()
    calls.let_go.clear()
    probe = asyncio.create_task(held.call(request_to("sick")))
    await calls.arrived.wait()
    assert held.circuits() == {"sick": CircuitState.PROBING}
    calls.let_go.set()
    await probe
    assert held.circuits() == {"sick": CircuitState.CLOSED}


@pytest.mark.parametrize("failure", [NotConnected(), NoAnswer(), answer(502), answer(503), answer(504)])
async def test_failures_in_a_row_hold_further_calls_to_this_endpoint_back(failure: CallOutcome) -> None:
    calls = Calls(failure)
    held = HeldCalls(calls, clock=Clock())
    for _ in range(2):
        assert await held.call(request_to("inventory")) == failure
    assert await held.call(request_to("inventory")) == HeldBack(
        reason=HoldReason.CIRCUIT_OPEN, retry_after_seconds=30
    )
    assert calls.made == 2
    assert await held.call(request_to("archive")) == failure


@pytest.mark.parametrize(
    "outcome",
    [
        *[answer(status) for status in (200, 302, 400, 401, 404, 408, 409, 425, 429, 500, 501, 599)],
        NotConfigured(),
        NotSignedIn(),
        BUSY,
    ],
)
async def test_what_does_not_say_that_an_endpoint_is_gone_opens_nothing(outcome: CallOutcome) -> None:
    held = HeldCalls(Calls(outcome), clock=Clock())
    for _ in range(5):
        assert await held.call(request_to("inventory")) == outcome


async def test_once_the_endpoint_is_back_one_call_finds_out_and_the_others_follow() -> None:
    clock, calls = Clock(), Calls(NoAnswer(), NoAnswer(), answer(200))
    held = HeldCalls(calls, clock=clock)
    for _ in range(2):
        await held.call(request_to("inventory"))
    clock.now = 30
    calls.arrived.clear()
    calls.let_go.clear()
    probe = asyncio.create_task(held.call(request_to("inventory")))
    await calls.arrived.wait()
    assert isinstance(await held.call(request_to("inventory")), HeldBack)
    calls.let_go.set()
    assert await probe == answer(200)
    assert await held.call(request_to("inventory")) == answer(200)


async def test_a_probe_whose_caller_was_cancelled_leaves_the_probing_to_the_next() -> None:
    clock, calls = Clock(), Calls(NoAnswer(), NoAnswer(), answer(200))
    held = HeldCalls(calls, clock=clock)
    for _ in range(2):
        await held.call(request_to("inventory"))
    clock.now = 30
    calls.arrived.clear()
    calls.let_go.clear()
    probe = asyncio.create_task(held.call(request_to("inventory")))
    await calls.arrived.wait()
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    calls.let_go.set()
    assert await held.call(request_to("inventory")) == answer(200)


async def test_a_call_beyond_its_integrations_limit_is_held_back_and_others_are_not() -> None:
    calls = Calls(answer(200))
    calls.let_go.clear()
    held = HeldCalls(calls)
    limited = request_to("inventory", limit=CallLimit(name="lookup", calls_max=1))
    first = asyncio.create_task(held.call(limited))
    await calls.arrived.wait()
    assert await held.call(limited) == BUSY
    calls.let_go.set()
    assert await held.call(request_to("inventory", limit=CallLimit(name="other", calls_max=1))) == answer(200)
    assert await first == answer(200)
    assert await held.call(limited) == answer(200)


async def test_a_cancelled_call_gives_its_place_back() -> None:
    calls = Calls(answer(200))
    calls.let_go.clear()
    held = HeldCalls(calls)
    limited = request_to("inventory", limit=CallLimit(name="lookup", calls_max=1))
    first = asyncio.create_task(held.call(limited))
    await calls.arrived.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    calls.let_go.set()
    assert await held.call(limited) == answer(200)


async def test_waiting_for_a_place_is_taken_out_of_the_budget() -> None:
    clock, calls = Clock(), Calls(answer(200))
    calls.let_go.clear()
    held = HeldCalls(calls, clock=clock)
    limited = request_to("inventory", limit=CallLimit(name="lookup", calls_max=1))
    patient = evolve(limited, timeouts=evolve(limited.timeouts, connect_seconds=30))
    first = asyncio.create_task(held.call(patient))
    await calls.arrived.wait()
    second = asyncio.create_task(held.call(patient))
    # One turn of the loop, so that the second stands in line before time passes.
    await asyncio.sleep(0)
    clock.now = 1.5
    calls.let_go.set()
    await asyncio.gather(first, second)
    assert calls.budgets == [2, 0.5]
