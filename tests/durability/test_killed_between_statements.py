"""A worker is killed between any two statements of a run; another one finishes what it left (protocol, race 5)."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from tests.durability.fault_flows import EffectClass
from tests.durability.struck_runs import IN_THE_WAY, OUT_OF_THE_WAY, FaultyRuns, broken_promises
from tests.plugins.fault_points import chosen
from tests.plugins.forked_process import WarmStart
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import StatementProxy

EACH_DAY = 2


def kill(worker: StartedProcess, proxy: StatementProxy) -> None:
    """Kill the worker while everything stands still, and then let the server see it."""
    worker.child.kill()
    proxy.let_go()


@pytest.fixture
def killed_runs(
    api_alone: RunningService,
    providers: ScriptedProviders,
    warm_start: WarmStart,
    statement_proxy: StatementProxy,
) -> Callable[..., FaultyRuns]:
    """Makes runs of an effect class, whose worker dies."""
    return partial(
        FaultyRuns,
        service=api_alone,
        providers=providers,
        warm=warm_start,
        proxy=statement_proxy,
        fault=kill,
    )


@pytest.fixture
def in_the_way(api_alone: RunningService) -> Iterator[None]:
    """Lets no batch through at once: each is looked at before it is written."""
    api_alone.database.execute(IN_THE_WAY)
    yield
    api_alone.database.execute(OUT_OF_THE_WAY)


def test_a_worker_killed_between_two_statements_loses_nothing_and_repeats_nothing(
    killed_runs: Callable[..., FaultyRuns],
) -> None:
    (effect,) = chosen("effect class", list(EffectClass), 1)
    runs = killed_runs(effect=effect)
    assert broken_promises(runs, chosen("kill", runs.recorded(), EACH_DAY)) == []


@pytest.mark.usefixtures("in_the_way")
def test_a_worker_killed_while_it_looks_and_writes_loses_nothing_and_repeats_nothing(
    killed_runs: Callable[..., FaultyRuns],
) -> None:
    (effect,) = chosen("effect class of a looked batch", list(EffectClass), 1)
    runs = killed_runs(effect=effect)
    strikes = runs.recorded()
    assert "ROLLBACK" in runs.proxy.statements, "something was in the way"
    assert broken_promises(runs, chosen("kill of a looked batch", strikes, EACH_DAY)) == []


@pytest.mark.exhaustive
@pytest.mark.usefixtures("in_the_way")
def test_a_worker_killed_anywhere_while_it_looks_and_writes_loses_nothing_and_repeats_nothing(
    killed_runs: Callable[..., FaultyRuns],
) -> None:
    runs = killed_runs(effect=EffectClass.NON_IDEMPOTENT_WRITE)
    strikes = runs.recorded()
    assert "ROLLBACK" in runs.proxy.statements, "something was in the way"
    assert broken_promises(runs, strikes) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("effect", list(EffectClass), ids=lambda effect: effect.name)
def test_a_worker_killed_between_any_two_statements_loses_nothing_and_repeats_nothing(
    killed_runs: Callable[..., FaultyRuns], effect: EffectClass
) -> None:
    runs = killed_runs(effect=effect)
    strikes = runs.recorded()
    assert len(strikes) > 40, "claim, two starts and a completion are more than twenty statements"
    assert broken_promises(runs, strikes) == []
