"""What can't be recorded doesn't happen: each fact is written in the transaction of the act that it tells of."""

from collections.abc import Awaitable, Callable

import pytest
from tests.plugins.flow_administration import FlowAdministration
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.resolution_desk import CLOSING, Desk

from orchestrator_domain.testing.contracts.fenced_writes import (
    FencedWrite,
    complete,
    fail,
    require_reconciliation,
    retry_later,
)
from orchestrator_domain.testing.contracts.reconciliation_store_contract import stopped
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import flow_document
from orchestrator_postgres.fault_translation import StorageRefused

# What an act may leave in these tables is all or nothing; leases and counts of claims are no acts.
_TABLES = {
    "request_instance": "id, current_state, data, revision, audit_sequence, audit_head",
    "request_creation": "request_id",
    "request_type": "type_key, active_flow_id, enabled, revision",
    "flow_definition": "id, status, revision, checksum",
    "execution": "id, status, result, error_code",
    "document_reference": "id",
    "audit_entry": "id",
    "admin_audit": "id",
    "reconciliation_resolution": "id",
}


async def everything(harness: PostgresHarness) -> list[str]:
    return [
        str(tuple(row.values()))
        for table, columns in _TABLES.items()
        for row in await harness.rows(f"SELECT {columns} FROM orchestrator.{table} ORDER BY 1".encode())
    ]


async def nothing_recorded(harness: PostgresHarness, table: str) -> None:
    """Let every entry of a record be refused from now on."""
    await harness.superuser.execute(
        b"CREATE FUNCTION public.refuse_fact() RETURNS trigger LANGUAGE plpgsql AS"
        b" $$ BEGIN RAISE EXCEPTION 'refused'; END $$"
    )
    await harness.superuser.execute(
        f"CREATE TRIGGER refuse_fact BEFORE INSERT ON orchestrator.{table}"
        " FOR EACH ROW EXECUTE FUNCTION public.refuse_fact()".encode()
    )


async def assert_that_nothing_happens(
    harness: PostgresHarness, act: Callable[[], Awaitable[object]], *, table: str = "audit_entry"
) -> None:
    before = await everything(harness)
    await nothing_recorded(harness, table)
    with pytest.raises(StorageRefused):
        await act()
    assert await everything(harness) == before


async def test_no_request_is_created_without_its_fact(harness: PostgresHarness) -> None:
    flows = FlowAdministration.over(harness)
    await flows.activate_first((await flows.published()).id)
    await assert_that_nothing_happens(harness, lambda: flows.create("k-1"))


async def test_no_event_is_accepted_without_its_fact(harness: PostgresHarness) -> None:
    desk = Desk(harness=harness, cases=StoredCases(harness=harness))
    claimed = await desk.cases.claimed()
    await fail(desk.cases, claimed, claimed.fence, [])
    await assert_that_nothing_happens(harness, lambda: desk.accept(claimed.execution))


@pytest.mark.parametrize("write", [retry_later, fail, require_reconciliation, complete])
async def test_no_run_ends_without_its_fact(harness: PostgresHarness, write: FencedWrite) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    await assert_that_nothing_happens(harness, lambda: write(cases, claimed, claimed.fence, []))


async def test_nothing_is_resolved_without_its_fact(harness: PostgresHarness) -> None:
    desk = Desk(harness=harness, cases=StoredCases(harness=harness))
    execution = await stopped(desk.cases)
    await assert_that_nothing_happens(harness, lambda: desk.resolve(execution, CLOSING))


@pytest.mark.parametrize("act", ["draft", "publish", "activate", "switch", "retire"])
async def test_no_act_on_flows_and_types_happens_without_its_fact(harness: PostgresHarness, act: str) -> None:
    flows = FlowAdministration.over(harness)
    published = await flows.published()
    await flows.activate_first(published.id)
    acts: dict[str, Callable[[], Awaitable[object]]]
    draft = await flows.draft(flow_document(version=2))
    acts = {
        "draft": lambda: flows.draft(flow_document(version=3)),
        "publish": lambda: flows.publish(draft.id),
        "activate": lambda: flows.activate(published.id),
        "switch": lambda: flows.switch(enabled=False),
        "retire": lambda: flows.retire(published.id),
    }
    await assert_that_nothing_happens(harness, acts[act], table="admin_audit")
