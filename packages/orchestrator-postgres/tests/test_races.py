"""Pairs of writers that meet: in either order one of them gives way, and nothing is lost."""

import asyncio

import pytest
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import CheckpointMoved, LeaseLost
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.lifecycle import FlowStatus
from orchestrator_domain.identifiers import ExecutionId, FlowId, IdempotencyKey
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.fenced_writes import FENCED_WRITES, LENT, FencedWrite
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, StoredCases, creation_of
from orchestrator_domain.testing.examples import (
    CLERK,
    TYPE_KEY,
    admin_fact,
    checkpoint_of,
    execution_of,
    request_of,
    write_of,
)


async def test_two_acceptances_of_one_key_have_one_execution(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    request = await cases.request()
    start = asyncio.Barrier(2)

    async def accepted() -> ExecutionId:
        async def story(transaction: Transaction) -> Execution:
            found = await transaction.requests.lock_visible(request.id, CLERK)
            assert found is not None
            earlier = await transaction.requests.execution_by_key(request.id, IdempotencyKey("check-1"))
            return earlier or await cases.accept(transaction, found.request, key="check-1")

        await start.wait()
        return (await harness.unit_of_work().run(story)).id

    first, second = await asyncio.gather(accepted(), accepted())
    assert first == second
    assert [entry.sequence for entry in await harness.history(request.id)] == [1, 2]


async def test_two_acceptances_that_forget_to_lock_are_told_apart_by_the_index(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    request = await cases.request()
    start = asyncio.Barrier(2)
    tries: list[str] = []

    async def accepted(key: str) -> Execution | None:
        async def story(transaction: Transaction) -> Execution | None:
            tries.append(key)
            found = await transaction.requests.find_visible(request.id, CLERK)
            assert found is not None
            if len(tries) <= 2:
                await start.wait()
            if found.active_execution is not None:
                return None
            moved = found.request.accepted()
            execution = execution_of(moved, cases.identifiers, key=key)
            fact = cases.fact(found.request, AuditKind.EVENT_ACCEPTED, execution.id)
            return await transaction.requests.save_acceptance(moved, execution, fact)

        return await harness.unit_of_work().run(story)

    answers = await asyncio.gather(accepted("check-1"), accepted("check-2"))
    assert sorted(answer is None for answer in answers) == [False, True]
    assert len(tries) == 3
    assert verify_chain(await harness.history(request.id)) is None


async def test_two_creations_under_one_key_make_one_request(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    flow = await cases.active_flow()
    start = asyncio.Barrier(2)

    async def created() -> object:
        request = request_of(flow, cases.identifiers)

        async def story(transaction: Transaction) -> object:
            earlier = await transaction.requests.reserve_creation(creation_of(request, key="create-1"))
            if earlier is not None:
                return earlier.request_id
            await transaction.requests.add(request, cases.fact(request, AuditKind.REQUEST_CREATED))
            return request.id

        await start.wait()
        return await harness.unit_of_work().run(story)

    first, second = await asyncio.gather(created(), created())
    assert first == second
    assert len(await harness.rows(b"SELECT FROM orchestrator.request_instance")) == 1


async def test_no_request_is_created_on_a_flow_whose_retirement_came_first(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    flow = await cases.active_flow()
    locked, ready = asyncio.Event(), asyncio.Event()

    async def retire(transaction: Transaction) -> None:
        stored = await transaction.flows.lock(flow.id)
        assert stored is not None
        locked.set()
        await ready.wait()
        await transaction.flows.save(stored.retired(), before=stored.revision, fact=admin_fact("RETIRED"))

    async def seen_status(transaction: Transaction) -> FlowStatus:
        await transaction.request_types.lock_shared(TYPE_KEY)
        found = await transaction.flows.lock_shared(flow.id)
        assert found is not None
        return found.status

    retirement = asyncio.create_task(harness.unit_of_work().run(retire))
    await locked.wait()
    creation = asyncio.create_task(harness.unit_of_work().run(seen_status))
    await harness.sessions_wait()
    ready.set()
    await retirement
    assert await creation is FlowStatus.RETIRED


async def test_a_retirement_waits_for_an_activation_that_came_first(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    flow = await cases.active_flow()
    locked, ready = asyncio.Event(), asyncio.Event()
    order: list[str] = []

    async def activate(transaction: Transaction) -> None:
        stored = await transaction.request_types.lock(TYPE_KEY)
        assert stored is not None
        await transaction.flows.lock_shared(flow.id)
        locked.set()
        await ready.wait()
        fact = admin_fact("FLOW_ACTIVATED", flow_id=flow.id, type_key=TYPE_KEY)
        await transaction.request_types.save(stored.activated(flow.id), before=stored.revision, fact=fact)
        order.append("activated")

    async def retire(transaction: Transaction) -> None:
        stored = await transaction.flows.lock(flow.id)
        assert stored is not None
        order.append("retired")
        await transaction.flows.save(stored.retired(), before=stored.revision, fact=admin_fact("RETIRED"))

    activation = asyncio.create_task(harness.unit_of_work().run(activate))
    await locked.wait()
    retirement = asyncio.create_task(harness.unit_of_work().run(retire))
    await harness.sessions_wait()
    ready.set()
    await asyncio.gather(activation, retirement)
    assert order == ["activated", "retired"]


@pytest.mark.parametrize("write", FENCED_WRITES)
async def test_a_lease_that_runs_out_during_a_write_takes_the_write_with_it(
    harness: PostgresHarness, write: FencedWrite
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    # Time can't be stopped between two statements of one transaction, so a trigger lets the lease end there.
    await harness.superuser.execute(
        b"""
        CREATE FUNCTION orchestrator.let_the_lease_end() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          UPDATE orchestrator.execution SET lease_until = clock_timestamp() - interval '1 microsecond';
          RETURN NULL;
        END $$;
        CREATE TRIGGER let_the_lease_end AFTER INSERT ON orchestrator.action_execution
        FOR EACH ROW EXECUTE FUNCTION orchestrator.let_the_lease_end()
        """
    )
    history = await harness.history(claimed.request.id)
    start = write_of(checkpoint_of(claimed.execution.id), cases.identifiers)
    with pytest.raises(LeaseLost):
        await write(cases, claimed, claimed.fence, [start])
    assert not await harness.checkpoints(claimed.execution.id)
    assert await harness.history(claimed.request.id) == history
    assert (await cases.seen(claimed.request.id)).request == claimed.request


@pytest.mark.parametrize("write", FENCED_WRITES)
async def test_a_write_that_waited_for_the_execution_past_its_lease_writes_nothing(
    harness: PostgresHarness, write: FencedWrite
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    start = write_of(checkpoint_of(claimed.execution.id), cases.identifiers)
    async with harness.superuser.transaction():
        await harness.expire_lease(claimed.execution.id)
        writing = asyncio.ensure_future(write(cases, claimed, claimed.fence, [start]))
        await harness.sessions_wait()
    with pytest.raises(LeaseLost):
        await writing
    assert not await harness.checkpoints(claimed.execution.id)


async def test_a_run_writes_one_checkpoint_start_though_two_are_tried_at_once(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    starts = [write_of(checkpoint_of(claimed.execution.id), cases.identifiers) for _ in range(2)]
    answers = await asyncio.gather(
        *(harness.queue().checkpoint(claimed.fence, [start]) for start in starts), return_exceptions=True
    )
    assert [type(answer) for answer in answers if answer is not None] == [CheckpointMoved]


async def test_a_busy_lease_is_held_although_it_can_not_be_renewed_at_this_moment(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    busy, free = await cases.claimed(), await cases.claimed()
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", busy.execution.id)
        held = await harness.queue().renew(fences=[busy.fence, free.fence], lease_seconds=LEASE_SECONDS)
    assert held == Renewed(held=frozenset({busy.execution.id, free.execution.id}))


async def test_busy_leases_are_waited_for_together_and_those_lost_are_told_meanwhile(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    busy = [await cases.claimed() for _ in range(6)]
    lost = await cases.claimed()
    await cases.lost(lost)
    async with harness.superuser.transaction():
        for each in busy:
            await harness.rows(
                b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", each.execution.id
            )
        # One after the other they would take a second each.
        async with asyncio.timeout(4):
            held = await harness.queue().renew(
                fences=[lost.fence, *(each.fence for each in busy)], lease_seconds=LEASE_SECONDS
            )
    assert held == Renewed(held=frozenset(each.execution.id for each in busy))


async def test_a_lease_that_was_busy_for_a_moment_is_renewed(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    busy = await cases.claimed()
    longer = 10 * LEASE_SECONDS
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", busy.execution.id)
        renewing = asyncio.create_task(harness.queue().renew(fences=[busy.fence], lease_seconds=longer))
        await harness.sessions_wait()
    assert await renewing == Renewed(held=frozenset({busy.execution.id}))
    assert await harness.lease_seconds_left(busy.execution.id) > LEASE_SECONDS


async def test_a_renewal_and_a_completion_of_one_execution_do_not_deadlock(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    fact = cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    await asyncio.gather(
        harness.queue().complete(claimed.fence, LENT, writes=[], succeeded=[], fact=fact),
        harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS),
    )
    assert (await cases.seen(claimed.request.id)).request.state == LENT.state


async def test_two_stories_that_deadlock_are_both_told_to_the_end(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first = await cases.published_flow(version=1)
    second = await cases.published_flow(version=2)
    both_hold_one = asyncio.Barrier(2)
    tries: list[FlowId] = []

    async def locked(one: FlowId, other: FlowId) -> None:
        async def story(transaction: Transaction) -> None:
            tries.append(one)
            await transaction.flows.lock(one)
            if len(tries) <= 2:
                await both_hold_one.wait()
            await transaction.flows.lock(other)

        await harness.unit_of_work().run(story)

    await asyncio.gather(locked(first.id, second.id), locked(second.id, first.id))
    assert len(tries) == 3
