"""Run seeds, and tell a failing one so that it can be run again and read."""

from attrs import frozen
from tests.simulation.chances import Chances
from tests.simulation.promises import Violation
from tests.simulation.simulation import Simulation
from tests.simulation.stage import Make, MemoryStage, Stage
from tests.simulation.stepping import run_synchronously
from tests.simulation.world import world

_SOUND = Make()


@frozen(kw_only=True)
class Failure:
    """A seed that breaks a promise, with the faults that it needs for that."""

    seed: int
    promise: str
    without: frozenset[int] = frozenset()
    faults: int = 0
    trace: tuple[str, ...] = ()

    def __str__(self) -> str:
        steps = "\n".join(self.trace)
        again = f"SIMULATION_FIRST_SEED={self.seed} make simulate SEEDS=1"
        return f"Seed {self.seed} breaks a promise: {self.promise}\n{again}\n{steps}\n{self.promise}"


def failure_of(
    seed: int,
    make: Make = _SOUND,
    *,
    without: frozenset[int] = frozenset(),
    trace: list[str] | None = None,
) -> Failure | None:
    """Run one seed in memory and return how it fails, or None; its steps are added to the trace, if there is one."""
    return run_synchronously(failure_on(MemoryStage(make), seed, make, without=without, trace=trace))


async def failure_on(
    stage: Stage,
    seed: int,
    make: Make = _SOUND,
    *,
    without: frozenset[int] = frozenset(),
    trace: list[str] | None = None,
) -> Failure | None:
    """Run one seed on a stage of its own, as `failure_of` does."""
    chances = Chances(seed, without)
    _, now = await stage.look()
    simulation = Simulation(world(stage, chances, make, now=now), chances, trace)
    try:
        await simulation.run()
    except Violation as violation:
        return Failure(
            seed=seed,
            promise=str(violation),
            without=without,
            faults=chances.faults,
            trace=tuple(trace or ()),
        )
    finally:
        simulation.end()
    return None


def shrunk(failure: Failure, make: Make = _SOUND) -> Failure:
    """Leave out every fault that the failure doesn't need, and tell the steps of what is left."""
    for fault in range(failure.faults, 0, -1):
        smaller = failure_of(failure.seed, make, without=failure.without | {fault})
        if smaller is not None and smaller.promise == failure.promise:
            failure = smaller
    told = failure_of(failure.seed, make, without=failure.without, trace=[])
    assert told is not None, "a seed fails alike whenever it is run"
    return told
