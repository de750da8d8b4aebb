"""What the port HistoryReader promises."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.history import EVERY_ENTRY, HistoryFilter
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, STRANGER

OWNER_ELSEWHERE = evolve(CLERK, scopes=frozenset())


class HistoryContract:
    async def test_a_history_is_read_in_order_and_as_it_was_written(self, harness: StoreHarness) -> None:
        execution = await StoredCases(harness=harness).accepted()
        found = await _entries(harness, execution.request_id)
        assert [entry.kind for entry in found] == [AuditKind.REQUEST_CREATED, AuditKind.EVENT_ACCEPTED]
        assert found == list(await harness.history(execution.request_id))

    @pytest.mark.parametrize(
        ("actor", "sees"),
        [(CLERK, True), (COLLEAGUE, True), (OWNER_ELSEWHERE, True), (STRANGER, False)],
        ids=["owner", "same-scope", "owner-without-the-scope", "other-scope"],
    )
    async def test_a_history_is_visible_to_whoever_sees_its_request_only(
        self, harness: StoreHarness, actor: Actor, *, sees: bool
    ) -> None:
        request = await StoredCases(harness=harness).request()
        assert (await _read(harness, request.id, actor=actor) is not None) is sees

    async def test_the_history_of_what_does_not_exist_is_none(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        await cases.request()
        assert await _read(harness, RequestId(cases.identifiers.uuid())) is None

    async def test_a_history_holds_entries_of_its_own_request_only(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        first, second = await cases.accepted(), await cases.accepted()
        found = await _entries(harness, first.request_id)
        assert {entry.request_id for entry in found} == {first.request_id}
        assert len(await _entries(harness, second.request_id)) == 2

    async def test_pages_follow_one_another_without_gap_or_repeat_while_entries_are_added(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        first = await _entries(harness, request.id, limit=1)
        await cases.accepted(request)
        second = await _entries(harness, request.id, after=first[-1].sequence, limit=1)
        end = await _entries(harness, request.id, after=second[-1].sequence, limit=1)
        assert [entry.sequence for entry in (*first, *second)] == [1, 2]
        assert end == []

    async def test_a_filter_leaves_what_was_asked_for(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        execution = await cases.accepted()
        created, accepted = await _entries(harness, execution.request_id)

        async def found(wanted: HistoryFilter) -> list[AuditEntry]:
            return await _entries(harness, execution.request_id, wanted=wanted)

        assert await found(HistoryFilter(kind=AuditKind.EVENT_ACCEPTED)) == [accepted]
        assert await found(HistoryFilter(kind=AuditKind.EXECUTION_FAILED)) == []
        assert await found(HistoryFilter(execution_id=execution.id)) == [accepted]
        assert await found(HistoryFilter(execution_id=ExecutionId(cases.identifiers.uuid()))) == []
        assert await found(HistoryFilter(since=accepted.created_at)) == [accepted]
        assert await found(HistoryFilter(until=accepted.created_at)) == [created]
        both = HistoryFilter(since=created.created_at, until=accepted.created_at + timedelta(microseconds=1))
        assert await found(both) == [created, accepted]

    async def test_a_filter_and_a_place_hold_together(self, harness: StoreHarness) -> None:
        execution = await StoredCases(harness=harness).accepted()
        wanted = HistoryFilter(kind=AuditKind.REQUEST_CREATED)
        assert len(await _entries(harness, execution.request_id, wanted=wanted)) == 1
        assert await _entries(harness, execution.request_id, wanted=wanted, after=1) == []


async def _entries(
    harness: StoreHarness,
    request_id: RequestId,
    *,
    wanted: HistoryFilter = EVERY_ENTRY,
    after: int = 0,
    limit: int = 100,
) -> list[AuditEntry]:
    found = await _read(harness, request_id, wanted=wanted, after=after, limit=limit)
    assert found is not None, "the clerk sees the request"
    return list(found)


async def _read(
    harness: StoreHarness,
    request_id: RequestId,
    *,
    actor: Actor = CLERK,
    wanted: HistoryFilter = EVERY_ENTRY,
    after: int = 0,
    limit: int = 100,
) -> Sequence[AuditEntry] | None:
    async def story(transaction: Transaction) -> Sequence[AuditEntry] | None:
        return await transaction.history.entries(request_id, actor, wanted=wanted, after=after, limit=limit)

    return await harness.unit_of_work().run(story)
