"""A worker is killed between any two statements of a run; another one finishes what it left (protocol, race 5)."""

import pytest
from tests.durability.fault_flows import EffectClass
from tests.durability.struck_runs import FaultyRuns, broken_promises
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


@pytest.fixture(params=list(EffectClass), ids=lambda effect: effect.name)
def killed_runs(
    request: pytest.FixtureRequest,
    api_alone: RunningService,
    providers: ScriptedProviders,
    warm_start: WarmStart,
    statement_proxy: StatementProxy,
) -> FaultyRuns:
    """Runs of each effect class, whose worker dies."""
    return FaultyRuns(
        service=api_alone,
        providers=providers,
        warm=warm_start,
        proxy=statement_proxy,
        effect=request.param,
        fault=kill,
    )


def test_a_worker_killed_between_two_statements_loses_nothing_and_repeats_nothing(
    killed_runs: FaultyRuns,
) -> None:
    strikes = chosen(f"kill {killed_runs.effect}", killed_runs.recorded(), EACH_DAY)
    assert broken_promises(killed_runs, strikes) == []


@pytest.mark.exhaustive
def test_a_worker_killed_between_any_two_statements_loses_nothing_and_repeats_nothing(
    killed_runs: FaultyRuns,
) -> None:
    strikes = killed_runs.recorded()
    assert len(strikes) > 40, "claim, two starts and a completion are more than twenty statements"
    assert broken_promises(killed_runs, strikes) == []
