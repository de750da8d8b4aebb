"""Calls that are held back: by an open circuit of their endpoint, or by the limit of their integration."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import assert_never

from attrs import evolve

from orchestrator_worker.circuit_breaker import Admitted, CircuitBreaker, CircuitState, KeptAway
from orchestrator_worker.invoke_integration import Caller
from orchestrator_worker.provider_answer import (
    BUSY_WAIT_SECONDS,
    Answer,
    CallOutcome,
    HeldBack,
    HoldReason,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import CallLimit, Endpoint

_SICK_STATUSES = frozenset({502, 503, 504})


class HeldCalls(Caller):
    """Make calls that are worth making now; all the others come back as HeldBack, and nothing of them has left.

    One circuit per endpoint, one limit per integration, both of this process alone.
    """

    def __init__(self, calls: Caller, *, clock: Callable[[], float] = monotonic) -> None:
        self._calls = calls
        self._clock = clock
        self._circuits: dict[str, CircuitBreaker] = {}
        self._places: dict[str, asyncio.Semaphore] = {}

    async def call(self, request: ProviderRequest) -> CallOutcome:
        """Wait for a free place no longer than for a connection, then call unless the circuit is open."""
        began = self._clock()
        try:
            async with self._place(request.limit, request.timeouts.connect_seconds):
                return await self._through_circuit(_within_budget(request, self._clock() - began))
        except _NoPlace:
            return HeldBack(reason=HoldReason.BUSY, retry_after_seconds=BUSY_WAIT_SECONDS)

    def circuits(self) -> Mapping[str, CircuitState]:
        """Return how the circuit of each endpoint that has been called stands."""
        return {name: circuit.state for name, circuit in tuple(self._circuits.items())}

    def kept_away(self, endpoint: Endpoint) -> HeldBack | None:
        """Say whether the endpoint's circuit would hold a call back now; nothing is called or taken."""
        kept = self._circuit_of(endpoint).keeps_away()
        if kept is None:
            return None
        return HeldBack(reason=HoldReason.CIRCUIT_OPEN, retry_after_seconds=kept.seconds)

    @asynccontextmanager
    async def _place(self, limit: CallLimit | None, seconds: float) -> AsyncIterator[None]:
        if limit is None:
            yield
            return
        places = self._places.setdefault(limit.name, asyncio.Semaphore(limit.calls_max))
        try:
            async with asyncio.timeout(seconds):
                await places.acquire()
        except TimeoutError:
            raise _NoPlace from None
        try:
            yield
        finally:
            places.release()

    async def _through_circuit(self, request: ProviderRequest) -> CallOutcome:
        circuit = self._circuit_of(request.endpoint)
        match circuit.admit():
            case KeptAway(seconds=seconds):
                return HeldBack(reason=HoldReason.CIRCUIT_OPEN, retry_after_seconds=seconds)
            case Admitted() as admitted:
                return await self._learned_from(request, circuit, admitted)

    async def _learned_from(
        self, request: ProviderRequest, circuit: CircuitBreaker, admitted: Admitted
    ) -> CallOutcome:
        try:
            outcome = await self._calls.call(request)
        except BaseException:
            circuit.left(admitted)
            raise
        _tell(circuit, admitted, outcome)
        return outcome

    def _circuit_of(self, endpoint: Endpoint) -> CircuitBreaker:
        if endpoint.name not in self._circuits:
            self._circuits[endpoint.name] = CircuitBreaker(endpoint.circuit, clock=self._clock)
        return self._circuits[endpoint.name]


class _NoPlace(Exception):
    """Every place of the integration stayed taken."""


def _within_budget(request: ProviderRequest, waited_seconds: float) -> ProviderRequest:
    """Take the wait for a place out of the call's budget, which an attempt may not outlive."""
    left = max(request.timeouts.budget_seconds - waited_seconds, 0.0)
    return evolve(request, timeouts=evolve(request.timeouts, budget_seconds=left))


def _tell(circuit: CircuitBreaker, admitted: Admitted, outcome: CallOutcome) -> None:
    match outcome:
        case NotConnected() | NoAnswer():
            circuit.failed(admitted)
        case Answer(status=status) if status in _SICK_STATUSES:
            circuit.failed(admitted)
        case Answer():
            circuit.succeeded(admitted)
        case NotConfigured() | NotSignedIn() | HeldBack():
            circuit.left(admitted)
        case _ as unreachable:
            assert_never(unreachable)
