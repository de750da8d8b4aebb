"""The API is killed between any two statements of an acceptance; its client sends the event again (race 5)."""

import pytest
from tests.durability.struck_acceptances import FaultyAcceptances
from tests.durability.test_killed_between_statements import kill
from tests.plugins.fault_points import chosen
from tests.plugins.forked_process import WarmStart
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import StatementProxy


@pytest.fixture
def killed_acceptances(
    api_alone: RunningService,
    providers: ScriptedProviders,
    warm_start: WarmStart,
    statement_proxy: StatementProxy,
) -> FaultyAcceptances:
    """Acceptances whose process dies."""
    return FaultyAcceptances(
        service=api_alone, providers=providers, warm=warm_start, proxy=statement_proxy, fault=kill
    )


@pytest.mark.exhaustive
def test_an_event_whose_acceptance_is_killed_between_any_two_statements_is_accepted_once(
    killed_acceptances: FaultyAcceptances,
) -> None:
    strikes = killed_acceptances.recorded()
    assert len(strikes) >= 10, "an acceptance begins, locks, reads, writes and commits"
    struck = [killed_acceptances.struck(strike) for strike in strikes]
    assert killed_acceptances.broken_promises(struck) == []


def test_events_whose_shared_acceptance_is_killed_between_two_statements_are_each_accepted_once(
    killed_acceptances: FaultyAcceptances,
) -> None:
    (strike,) = chosen("kill shared acceptance", killed_acceptances.recorded_together(), 1)
    assert killed_acceptances.broken_promises(killed_acceptances.struck_together(strike)) == []


@pytest.mark.exhaustive
def test_events_whose_shared_acceptance_is_killed_between_any_two_statements_are_each_accepted_once(
    killed_acceptances: FaultyAcceptances,
) -> None:
    strikes = killed_acceptances.recorded_together()
    struck = [each for strike in strikes for each in killed_acceptances.struck_together(strike)]
    assert killed_acceptances.broken_promises(struck) == []
