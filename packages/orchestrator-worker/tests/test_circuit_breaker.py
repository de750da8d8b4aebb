"""A circuit opens after failures in a row, lets one call find out, and closes when that one succeeds."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from orchestrator_worker.circuit_breaker import (
    PROBE_WAIT_SECONDS,
    Admitted,
    CircuitBreaker,
    CircuitSettings,
    KeptAway,
)

SETTINGS = CircuitSettings(failures_to_open=3, open_seconds=30, open_seconds_max=100)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def admitted(circuit: CircuitBreaker) -> Admitted:
    found = circuit.admit()
    assert isinstance(found, Admitted)
    return found


def opened(clock: Clock) -> CircuitBreaker:
    circuit = CircuitBreaker(SETTINGS, clock=clock)
    for _ in range(3):
        circuit.failed(admitted(circuit))
    return circuit


def test_failures_with_a_success_between_them_open_nothing() -> None:
    circuit = CircuitBreaker(SETTINGS, clock=Clock())
    for _ in range(10):
        circuit.failed(admitted(circuit))
        circuit.failed(admitted(circuit))
        circuit.succeeded(admitted(circuit))
    assert isinstance(circuit.admit(), Admitted)


def test_an_open_circuit_says_how_long_to_stay_away() -> None:
    clock = Clock()
    circuit = opened(clock)
    assert circuit.admit() == KeptAway(seconds=30)
    clock.now = 29
    assert circuit.admit() == KeptAway(seconds=1)


def test_one_call_probes_and_its_success_closes_the_circuit() -> None:
    clock = Clock()
    circuit = opened(clock)
    clock.now = 30
    probe = admitted(circuit)
    assert circuit.admit() == KeptAway(seconds=PROBE_WAIT_SECONDS)
    circuit.succeeded(probe)
    assert isinstance(circuit.admit(), Admitted)


def test_each_probe_that_fails_doubles_the_time_up_to_its_maximum() -> None:
    clock = Clock()
    circuit = opened(clock)
    waits = []
    for _ in range(4):
        away = circuit.admit()
        assert isinstance(away, KeptAway)
        waits.append(away.seconds)
        clock.now += away.seconds
        circuit.failed(admitted(circuit))
    assert waits == [30, 60, 100, 100]


def test_a_probe_that_came_to_nothing_makes_room_for_another() -> None:
    clock = Clock()
    circuit = opened(clock)
    clock.now = 30
    circuit.left(admitted(circuit))
    circuit.succeeded(admitted(circuit))
    assert isinstance(circuit.admit(), Admitted)


def test_calls_from_before_say_nothing_once_the_circuit_has_opened() -> None:
    clock = Clock()
    circuit = CircuitBreaker(SETTINGS, clock=clock)
    early = [admitted(circuit) for _ in range(6)]
    for call in early[:3]:
        circuit.failed(call)
    circuit.succeeded(early[3])
    circuit.failed(early[4])
    circuit.left(early[5])
    assert circuit.admit() == KeptAway(seconds=30)


def test_after_closing_it_takes_as_many_failures_as_before_to_open() -> None:
    clock = Clock()
    circuit = opened(clock)
    clock.now = 30
    circuit.succeeded(admitted(circuit))
    circuit.failed(admitted(circuit))
    circuit.failed(admitted(circuit))
    assert isinstance(circuit.admit(), Admitted)


class CircuitMachine(RuleBasedStateMachine):
    """Whatever the order of calls and ends, no circuit stays shut for good."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.circuit = CircuitBreaker(SETTINGS, clock=self.clock)
        self.under_way: list[Admitted] = []

    @rule()
    def ask(self) -> None:
        match self.circuit.admit():
            case Admitted() as call:
                self.under_way.append(call)
            case KeptAway(seconds=seconds):
                assert 0 < seconds <= SETTINGS.open_seconds_max

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), end=st.sampled_from(["succeeded", "failed", "left"]))
    def end(self, data: st.DataObject, end: str) -> None:
        call = self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))
        getattr(self.circuit, end)(call)

    @rule(seconds=st.floats(0, 200))
    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def once_all_calls_have_ended_time_alone_lets_the_next_one_through(self) -> None:
        if not self.under_way:
            found = self.circuit.admit()
            if isinstance(found, KeptAway):
                self.clock.now += found.seconds
                found = self.circuit.admit()
            assert isinstance(found, Admitted)
            self.circuit.left(found)


TestCircuitMachine = CircuitMachine.TestCase
