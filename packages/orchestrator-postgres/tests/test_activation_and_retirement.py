"""A17: whatever meets whatever in either order, no new request ever refers to a retired flow, and nothing deadlocks.

Each act holds its locks until it commits, so one that has told its story and waits with its commit is before every act
that has to wait for it. Times are of one clock, PostgreSQL's, and are written while the locks are held: a request that
is younger than the retirement of its flow, or an activation that is, shows that a lock was missing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random

import pytest
from tests.plugins.flow_administration import FlowAdministration, waits_for_a_lock
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.errors import (
    FlowRetired,
    OrchestratorError,
    RequestTypeDisabled,
    RevisionMismatch,
    UnknownRequestType,
)
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId

HAMMER_ROUNDS = 300

type Act = Callable[[FlowAdministration, FlowId], Awaitable[object]]

RETIRE: Act = lambda office, flow: office.retire(flow)  # noqa: E731 - a table of acts reads best in lines
ACTIVATE: Act = lambda office, flow: office.activate(flow)  # noqa: E731
ACTIVATE_FIRST: Act = lambda office, flow: office.activate_first(flow)  # noqa: E731
CREATE: Act = lambda office, _: office.create("create-1")  # noqa: E731
CLOSE: Act = lambda office, _: office.switch(enabled=False)  # noqa: E731


async def one_after_the_other(
    harness: PostgresHarness, office: FlowAdministration, flow: FlowId, first: Act, second: Act
) -> list[object]:
    """Let the second act wait for the locks of the first, and return what becomes of both."""
    held, hold = office.held()
    earlier = asyncio.create_task(_outcome(first(held, flow)))
    await hold.told.wait()
    later = asyncio.create_task(_outcome(second(office, flow)))
    await waits_for_a_lock(harness)
    hold.go_on.set()
    return [await earlier, await later]


async def _outcome(act: Awaitable[object]) -> object:
    try:
        return await act
    except OrchestratorError as refusal:
        return type(refusal)


async def active(office: FlowAdministration) -> FlowId:
    flow = await office.published()
    await office.activate_first(flow.id)
    return flow.id


async def test_a_creation_after_a_retirement_is_refused(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await active(office)
    _, creation = await one_after_the_other(harness, office, flow, RETIRE, CREATE)
    assert creation is FlowRetired
    assert await harness.rows(b"SELECT FROM orchestrator.request_instance") == []


async def test_a_creation_before_a_retirement_keeps_its_flow(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await active(office)
    _, retirement = await one_after_the_other(harness, office, flow, CREATE, RETIRE)
    assert isinstance(retirement, StoredFlow)
    assert retirement.status is FlowStatus.RETIRED
    await nothing_new_refers_to_what_is_retired(harness)
    assert len(await harness.rows(b"SELECT FROM orchestrator.request_instance")) == 1


@pytest.mark.parametrize("activation", [ACTIVATE, ACTIVATE_FIRST], ids=["later", "first"])
async def test_an_activation_after_a_retirement_is_refused(harness: PostgresHarness, activation: Act) -> None:
    office = FlowAdministration.over(harness)
    retiring = await office.published()
    if activation is ACTIVATE:
        await office.activate_first((await office.published(version=2)).id)
    _, refusal = await one_after_the_other(harness, office, retiring.id, RETIRE, activation)
    assert refusal is FlowRetired
    rows = await harness.rows(b"SELECT active_flow_id FROM orchestrator.request_type")
    assert retiring.id not in [row["active_flow_id"] for row in rows]


@pytest.mark.parametrize("activation", [ACTIVATE, ACTIVATE_FIRST], ids=["later", "first"])
async def test_an_activation_before_a_retirement_leaves_a_type_that_creates_nothing(
    harness: PostgresHarness, activation: Act
) -> None:
    office = FlowAdministration.over(harness)
    retiring = await office.published()
    if activation is ACTIVATE:
        await office.activate_first((await office.published(version=2)).id)
    outcomes = await one_after_the_other(harness, office, retiring.id, activation, RETIRE)
    assert not any(isinstance(outcome, type) for outcome in outcomes)
    with pytest.raises(FlowRetired):
        await office.create("create-1")
    await nothing_new_refers_to_what_is_retired(harness)


async def test_a_creation_after_an_activation_gets_the_new_version(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    await active(office)
    second = await office.published(version=2)
    await one_after_the_other(harness, office, second.id, ACTIVATE, CREATE)
    (row,) = await harness.rows(b"SELECT flow_id FROM orchestrator.request_instance")
    assert row["flow_id"] == second.id


async def test_a_creation_before_an_activation_keeps_the_version_before(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    first = await active(office)
    second = await office.published(version=2)
    outcomes = await one_after_the_other(harness, office, second.id, CREATE, ACTIVATE)
    assert not any(isinstance(outcome, type) for outcome in outcomes)
    (row,) = await harness.rows(b"SELECT flow_id FROM orchestrator.request_instance")
    assert row["flow_id"] == first


async def test_a_creation_after_its_type_was_closed_is_refused(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await active(office)
    _, creation = await one_after_the_other(harness, office, flow, CLOSE, CREATE)
    assert creation is RequestTypeDisabled


async def test_a_retirement_waits_for_no_request_type(harness: PostgresHarness) -> None:
    """It locks the flow alone, so it ends while somebody holds the type."""
    office = FlowAdministration.over(harness)
    flow = await active(office)
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.request_type FOR UPDATE")
        async with asyncio.timeout(10):
            assert (await office.retire(flow)).status is FlowStatus.RETIRED


async def test_creations_do_not_wait_for_one_another(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    await active(office)
    held, hold = office.held()
    first = asyncio.create_task(held.create("create-1"))
    await hold.told.wait()
    async with asyncio.timeout(10):
        await office.create("create-2")
    hold.go_on.set()
    await first


async def test_no_order_of_creations_activations_and_retirements_breaks_the_promise(
    harness: PostgresHarness,
) -> None:
    """Each round moves the type on to a new version, while that version and the one before it are retired."""
    office = FlowAdministration.over(harness)
    order = Random(17)
    before = await active(office)
    refused: set[object] = set()
    for number in range(2, 2 + HAMMER_ROUNDS):
        flow = (await office.published(version=number)).id
        acts: list[Awaitable[object]] = [
            office.activate(flow),
            office.retire(flow),
            office.retire(before),
            *(office.create(f"create-{number}-{each}") for each in range(3)),
        ]
        order.shuffle(acts)
        refused |= set(await _at_once(acts))
        before = flow
    await nothing_new_refers_to_what_is_retired(harness)
    # Anything else, a deadlock above all, is a fault: the stories of this office are told once.
    assert refused <= {FlowRetired}
    created = await harness.rows(b"SELECT count(*) AS number FROM orchestrator.request_instance")
    assert created[0]["number"] > 0
    assert FlowRetired in refused


async def test_of_many_first_activations_and_a_retirement_nothing_deadlocks(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    order = Random(18)
    for number in range(1, 1 + HAMMER_ROUNDS // 6):
        flow = (await office.published(version=number)).id
        acts = [*(office.activate_first(flow) for _ in range(3)), office.retire(flow), office.create("one")]
        order.shuffle(acts)
        refused = set(await _at_once(acts))
        assert refused <= {FlowRetired, RevisionMismatch, UnknownRequestType}
        await nothing_new_refers_to_what_is_retired(harness)
        await asyncio.to_thread(harness.database.execute, _FORGET_TYPES)


async def _at_once(acts: Sequence[Awaitable[object]]) -> list[object]:
    """Begin all of them behind one barrier, and return the types of the refusals."""
    start = asyncio.Barrier(len(acts))

    async def begun(act: Awaitable[object]) -> object:
        await start.wait()
        return await _outcome(act)

    outcomes = await asyncio.gather(*map(begun, acts))
    return [outcome for outcome in outcomes if isinstance(outcome, type)]


async def nothing_new_refers_to_what_is_retired(harness: PostgresHarness) -> None:
    """Find no request and no activation that came after the retirement of its flow."""
    assert await harness.rows(_YOUNGER_THAN_THE_RETIREMENT) == []


_YOUNGER_THAN_THE_RETIREMENT = b"""
SELECT acts.what, acts.flow_id
FROM (
  SELECT 'request' AS what, flow_id, created_at FROM orchestrator.request_instance
  UNION ALL
  SELECT 'activation', flow_id, created_at FROM orchestrator.admin_audit WHERE action = 'FLOW_ACTIVATED'
) AS acts
JOIN orchestrator.admin_audit AS retirement
  ON retirement.action = 'FLOW_RETIRED' AND retirement.flow_id = acts.flow_id
WHERE acts.created_at >= retirement.created_at
"""

_FORGET_TYPES = """
DO $$
BEGIN
  SET LOCAL session_replication_role = replica;
  DELETE FROM orchestrator.request_creation;
  DELETE FROM orchestrator.request_instance;
  DELETE FROM orchestrator.audit_entry;
  DELETE FROM orchestrator.admin_audit;
  DELETE FROM orchestrator.request_type;
END $$
"""
