"""PostgreSQL is restarted between any two statements of a run and of an acceptance (protocol, race 6).

The processes live on: they find the server again by themselves, and what a run can't finish is left to its lease.
"""

from collections.abc import Iterator
from uuid import uuid4

import httpx2
import pytest
from attrs import frozen
from tests.durability.fault_flows import EffectClass
from tests.durability.struck_acceptances import FaultyAcceptances
from tests.durability.struck_runs import FaultyRuns, broken_promises
from tests.plugins.fault_points import chosen
from tests.plugins.forked_process import WarmStart
from tests.plugins.migrated_database import LOGINS, TestDatabase
from tests.plugins.process_room import ProcessRoom, StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import StatementProxy

from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.roles import provision_roles
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres


@frozen(kw_only=True)
class Restarts:
    """A server of the tests' own with a service on it, and the faults that restart it."""

    server: EmbeddedPostgres
    service: RunningService

    def under_a_run(self, worker: StartedProcess, proxy: StatementProxy) -> None:
        """Restart while everything stands still; the worker then ends what it can, and ends."""
        self._restart()
        proxy.let_go()
        assert worker.end() == 0, worker.log()

    def under_an_acceptance(self, _: StartedProcess, proxy: StatementProxy) -> None:
        self._restart()
        proxy.let_go()

    def _restart(self) -> None:
        """Restart as after a power cut: nothing that wasn't committed is there any more."""
        self.server.kill()
        self.server.start()


@pytest.fixture(scope="module")
def restarts(
    warm_start: WarmStart,
    process_room: ProcessRoom,
    issuer_url: str,
    http: httpx2.Client,
    shared_settings: dict[str, str],
) -> Iterator[Restarts]:
    """A server that nobody else uses."""
    with EmbeddedPostgres() as server:
        database = TestDatabase(superuser_url=server.create_database(f"restarted_{uuid4().hex[:8]}"))
        provision_roles(database.superuser_url, LOGINS)
        migrate(database.migration_url)
        settings = {**shared_settings, "DATABASE_URL": database.runtime_url}
        serving = {**settings, "REQUEST_API_ENABLED": "true", "FLOW_ADMIN_ENABLED": "true"}
        process = warm_start.start(serving)
        service = RunningService(
            room=process_room,
            database=database,
            issuer_url=issuer_url,
            http=http,
            settings=settings,
            process=process,
        )
        yield Restarts(server=server, service=service)
        process_room.end(process)


@pytest.fixture
def proxy(restarts: Restarts) -> Iterator[StatementProxy]:
    """A proxy before that server."""
    with StatementProxy(restarts.service.settings["DATABASE_URL"]) as entered:
        yield entered


@pytest.fixture
def restarted_runs(
    restarts: Restarts, providers: ScriptedProviders, warm_start: WarmStart, proxy: StatementProxy
) -> FaultyRuns:
    """Runs during which the server is restarted."""
    return FaultyRuns(
        service=restarts.service,
        providers=providers,
        warm=warm_start,
        proxy=proxy,
        effect=EffectClass.NON_IDEMPOTENT_WRITE,
        fault=restarts.under_a_run,
    )


@pytest.fixture
def restarted_acceptances(
    restarts: Restarts, providers: ScriptedProviders, warm_start: WarmStart, proxy: StatementProxy
) -> FaultyAcceptances:
    """Acceptances during which the server is restarted."""
    return FaultyAcceptances(
        service=restarts.service,
        providers=providers,
        warm=warm_start,
        proxy=proxy,
        fault=restarts.under_an_acceptance,
    )


def test_a_restart_of_postgresql_during_a_run_or_an_acceptance_loses_nothing_and_repeats_nothing(
    restarted_runs: FaultyRuns, restarted_acceptances: FaultyAcceptances
) -> None:
    if chosen("restart what", ["a run", "an acceptance"], 1) == ["a run"]:
        strikes = chosen("restart a run", restarted_runs.recorded(), 1)
        assert broken_promises(restarted_runs, strikes) == []
    else:
        (strike,) = chosen("restart an acceptance", restarted_acceptances.recorded(), 1)
        assert restarted_acceptances.broken_promises([restarted_acceptances.struck(strike)]) == []


@pytest.mark.exhaustive
def test_a_restart_of_postgresql_at_any_statement_of_a_run_loses_nothing_and_repeats_nothing(
    restarted_runs: FaultyRuns,
) -> None:
    assert broken_promises(restarted_runs, restarted_runs.recorded()) == []


@pytest.mark.exhaustive
def test_a_restart_of_postgresql_at_any_statement_of_an_acceptance_lets_it_be_accepted_once(
    restarted_acceptances: FaultyAcceptances,
) -> None:
    struck = [restarted_acceptances.struck(strike) for strike in restarted_acceptances.recorded()]
    assert restarted_acceptances.broken_promises(struck) == []
