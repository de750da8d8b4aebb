"""A notification connection that stays open and passes nothing on costs at most one poll (protocol, race 8)."""

from collections.abc import Callable

import pytest
from tests.durability.fault_flows import EffectClass, acting_twice
from tests.plugins.execution_evidence import LOOKUP
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import StatementProxy


def polls(statement: str) -> bool:
    return "claims_without_progress + 1" in statement


def listening(statement: str) -> bool:
    return statement.startswith("LISTEN")


@pytest.mark.parametrize("fault", ["black-holed", "killed"])
def test_an_event_whose_hint_gets_lost_waits_for_no_more_than_the_next_poll(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
    fault: str,
) -> None:
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(acting_twice(EffectClass.READ_ONLY)))
    if fault == "black-holed":
        statement_proxy.swallow(listening)
    statement_proxy.begin(lambda statement: polls(statement) or listening(statement))
    fork_worker(WORKER_POLL_MS="300", DATABASE_URL=statement_proxy.url)
    statement_proxy.await_statement(lambda seen: any(map(listening, seen)) and any(map(polls, seen)))
    providers.hold_next(LOOKUP)
    if fault == "killed":
        api_alone.database.execute(_KILL_LISTENERS)

    execution = analyst.start(request, "REGISTRAR")
    polled = sum(map(polls, [*statement_proxy.statements]))

    # With its one slot taken the worker polls no more, so the last poll is the one that took the event.
    providers.await_held()
    assert sum(map(polls, [*statement_proxy.statements])) <= polled + 1
    providers.release()
    assert analyst.ended(execution)["status"] == "SUCCEEDED"


_KILL_LISTENERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND query LIKE 'LISTEN%'
"""
