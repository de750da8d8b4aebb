"""What the port RequestStore promises."""

import asyncio
from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.identifiers import BusinessScope, ExecutionId, IdempotencyKey, RequestId, Subject
from orchestrator_domain.ports.request_store import VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases, creation_of
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, STRANGER, request_of

OWNER_ELSEWHERE = evolve(CLERK, scopes=frozenset())


class RequestStoreContract:
    async def test_a_key_is_reserved_once_and_then_answers_with_the_earlier_record(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.active_flow()
        first, second = request_of(flow, cases.identifiers), request_of(flow, cases.identifiers)
        assert await cases.reserved(first, key="create-1") is None
        assert await cases.reserved(second, key="create-1") == creation_of(first, key="create-1")

    @pytest.mark.parametrize(
        "changes",
        [
            {"actor": Subject("clerk-2")},
            {"scope": BusinessScope("SOUTH")},
            {"key": IdempotencyKey("create-2")},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    async def test_another_actor_scope_or_key_is_another_record(
        self, harness: StoreHarness, changes: dict[str, Any]
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.active_flow()
        first, second = request_of(flow, cases.identifiers), request_of(flow, cases.identifiers)
        await cases.reserved(first, key="create-1")
        other = evolve(creation_of(second, key="create-1"), **changes)
        assert await cases.recorded(second, other) is None

    async def test_of_two_reservations_at_once_one_gets_the_other_s_record(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        flow = await cases.active_flow()
        requests = [request_of(flow, cases.identifiers) for _ in range(2)]
        answers = await asyncio.gather(*(cases.reserved(request, key="create-1") for request in requests))
        (earlier,) = [answer for answer in answers if answer is not None]
        winner, loser = (requests[answers.index(None)], requests[answers.index(earlier)])
        assert earlier == creation_of(winner, key="create-1")
        assert await cases.visible(winner.id, CLERK) is not None
        assert await cases.visible(loser.id, CLERK) is None

    async def test_a_request_is_found_as_it_was_added(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        assert request.created_at is not None
        assert request.updated_at is not None
        assert await cases.visible(request.id, CLERK) == VisibleRequest(
            request=request, active_execution=None
        )

    @pytest.mark.parametrize(
        ("actor", "sees"),
        [(CLERK, True), (COLLEAGUE, True), (OWNER_ELSEWHERE, True), (STRANGER, False)],
        ids=["owner", "same-scope", "owner-without-the-scope", "other-scope"],
    )
    async def test_a_request_is_visible_to_its_owner_and_in_its_scope_only(
        self, harness: StoreHarness, actor: Actor, *, sees: bool
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        execution = await cases.accepted(request)
        assert (await cases.visible(request.id, actor) is not None) is sees
        assert (await _locked(harness, request.id, actor) is not None) is sees
        assert (await _execution(harness, execution.id, actor) is not None) is sees

    async def test_what_does_not_exist_is_none(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        unknown = cases.identifiers.uuid()
        assert await cases.visible(RequestId(unknown), CLERK) is None
        assert await _locked(harness, RequestId(unknown), CLERK) is None
        assert await _execution(harness, ExecutionId(unknown), CLERK) is None
        assert await _by_key(harness, RequestId(unknown), "check-1") is None

    async def test_an_acceptance_stores_the_execution_and_the_moved_request(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        execution = await cases.accepted(request)
        assert (execution.status, execution.attempts) == (ExecutionStatus.PENDING, 0)
        assert execution.created_at is not None
        seen = await cases.seen(request.id)
        assert seen.active_execution == execution.id
        assert seen.request == evolve(request.accepted(), updated_at=seen.request.updated_at)
        assert await _execution(harness, execution.id, CLERK) == execution

    async def test_a_locked_request_reads_like_a_found_one(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        execution = await cases.accepted()
        seen = await cases.seen(execution.request_id)
        assert await _locked(harness, execution.request_id, CLERK) == seen

    async def test_an_execution_is_found_by_the_key_of_its_own_request_only(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        execution, other = await cases.accepted(), await cases.request()
        assert await _by_key(harness, execution.request_id, "check-1") == execution
        assert await _by_key(harness, execution.request_id, "check-2") is None
        assert await _by_key(harness, other.id, "check-1") is None

    async def test_the_same_key_serves_another_request(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        first, second = await cases.accepted(key="check-1"), await cases.accepted(key="check-1")
        assert await _by_key(harness, second.request_id, "check-1") == second
        assert first.id != second.id

    async def test_of_two_acceptances_at_once_the_later_sees_what_the_earlier_committed(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()

        async def accepted_or_busy(key: str) -> Execution | ExecutionId:
            async def story(transaction: Transaction) -> Execution | ExecutionId:
                found = await transaction.requests.lock_visible(request.id, CLERK)
                assert found is not None
                await asyncio.sleep(0)
                if found.active_execution is not None:
                    return found.active_execution
                return await cases.accept(transaction, found.request, key=key)

            return await harness.unit_of_work().run(story)

        answers = await asyncio.gather(*(accepted_or_busy(key) for key in ("check-1", "check-2")))
        (accepted,) = [answer for answer in answers if isinstance(answer, Execution)]
        assert [answer for answer in answers if not isinstance(answer, Execution)] == [accepted.id]
        assert (await cases.seen(request.id)).request.revision == request.revision + 1

    async def test_facts_are_appended_to_the_request_s_own_unbroken_chain(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first, second = await cases.request(), await cases.request()
        execution = await cases.accepted(first)
        history = list(await harness.history(first.id))
        assert [(entry.kind, entry.execution_id) for entry in history] == [
            (AuditKind.REQUEST_CREATED, None),
            (AuditKind.EVENT_ACCEPTED, execution.id),
        ]
        assert [entry.kind for entry in await harness.history(second.id)] == [AuditKind.REQUEST_CREATED]
        assert verify_chain(history) is None

    async def test_a_fact_is_stored_whole(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = request_of(await cases.active_flow(), cases.identifiers)
        fact = cases.fact(request, AuditKind.REQUEST_CREATED)

        async def story(transaction: Transaction) -> None:
            await transaction.requests.reserve_creation(creation_of(request))
            await transaction.requests.add(request, fact)

        await harness.unit_of_work().run(story)
        (entry,) = await harness.history(request.id)
        assert (entry.id, entry.kind, entry.actor, entry.flow_id) == (
            fact.id,
            fact.kind,
            fact.actor,
            fact.flow_id,
        )
        assert (entry.from_state, entry.to_state) == (fact.from_state, fact.to_state)
        assert (entry.detail, entry.salt, entry.detail_hash) == (fact.detail, fact.salt, fact.detail_hash())


async def _locked(harness: StoreHarness, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
    async def story(transaction: Transaction) -> VisibleRequest | None:
        return await transaction.requests.lock_visible(request_id, actor)

    return await harness.unit_of_work().run(story)


async def _execution(harness: StoreHarness, execution_id: ExecutionId, actor: Actor) -> Execution | None:
    async def story(transaction: Transaction) -> Execution | None:
        return await transaction.requests.find_visible_execution(execution_id, actor)

    return await harness.unit_of_work().run(story)


async def _by_key(harness: StoreHarness, request_id: RequestId, key: str) -> Execution | None:
    async def story(transaction: Transaction) -> Execution | None:
        return await transaction.requests.execution_by_key(request_id, IdempotencyKey(key))

    return await harness.unit_of_work().run(story)
