"""Which flows a start looks at: those that something is still to run with."""

import pytest
from tests.plugins.flow_administration import FlowAdministration
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.flow.pinned_meaning import PinnedFlow
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.testing.examples import lookup_contract, pinned_contract
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.flows_in_use import flows_in_use


async def versions(harness: PostgresHarness) -> list[int]:
    return [flow.version for flow in await flows_in_use(harness.settings)]


async def test_drafts_and_versions_that_nobody_uses_are_left_out(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    await office.published()
    await office.draft({**(await office.published(version=2)).document, "version": 3})
    assert await versions(harness) == []


async def test_an_active_version_is_in_use_with_what_it_pinned(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await office.published()
    await office.activate_first(flow.id)
    expected = PinnedFlow(
        id=flow.id,
        flow_key=flow.flow_key,
        version=1,
        contracts=(pinned_contract(lookup_contract()),),
    )
    assert list(await flows_in_use(harness.settings)) == [expected]


async def test_a_version_is_in_use_until_its_last_request_has_ended(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    await office.activate_first((await office.published(version=1)).id)
    requests = [(await office.create(key)).id for key in ("a", "b")]
    await office.activate((await office.published(version=2)).id)
    await end(harness, requests[0], "LENT")
    assert await versions(harness) == [1, 2]
    await end(harness, requests[1], "WITHDRAWN")
    assert await versions(harness) == [2]


async def test_a_retired_version_is_in_use_for_its_requests_alone(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await office.published()
    await office.activate_first(flow.id)
    request = await office.create("a")
    await office.retire(flow.id)
    assert await versions(harness) == [1]
    await end(harness, request.id, "LENT")
    assert await versions(harness) == []


async def test_a_database_that_does_not_answer_is_a_fault_of_the_store(database: TestDatabase) -> None:
    url = database.runtime_url.replace(database.name, "nowhere")
    with pytest.raises(StorageUnavailable):
        await flows_in_use(ConnectionSettings(url=url))


async def end(harness: PostgresHarness, request: RequestId, state: str) -> None:
    """Bring a request into a terminal state."""
    statement = b"UPDATE orchestrator.request_instance SET current_state = %s WHERE id = %s"
    await harness.superuser.execute(statement, [state, request])
