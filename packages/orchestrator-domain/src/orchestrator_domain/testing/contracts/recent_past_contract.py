"""What the port RecentPast promises."""

from datetime import datetime
from typing import Final

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.identifiers import FlowKey, RequestId
from orchestrator_domain.ports.recent_past import RecentPast, RecentRequest
from orchestrator_domain.testing.contracts.fenced_writes import complete
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import (
    CLERK,
    COLLEAGUE,
    STRANGER,
    checkpoint_of,
    write_of,
)

LENDING: Final = FlowKey("LENDING")
OWNER_ELSEWHERE: Final = evolve(CLERK, scopes=frozenset())


class RecentPastContract:
    async def test_the_latest_requests_come_first_and_no_more_than_asked_for(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        made = [(await cases.request()).id for _ in range(3)]
        past = harness.recent_past()
        assert await _latest(past) == sorted(made, reverse=True)
        assert await _latest(past, limit=2) == sorted(made, reverse=True)[:2]

    @pytest.mark.parametrize(
        ("actor", "sees"),
        [(CLERK, True), (COLLEAGUE, True), (OWNER_ELSEWHERE, True), (STRANGER, False)],
        ids=["owner", "same-scope", "owner-without-the-scope", "other-scope"],
    )
    async def test_only_requests_that_the_actor_sees_are_found(
        self, harness: StoreHarness, actor: Actor, *, sees: bool
    ) -> None:
        request = await StoredCases(harness=harness).request()
        past = harness.recent_past()
        assert await _latest(past, actor=actor) == ([request.id] if sees else [])
        assert len(await past.runs([request.id], actor)) == int(sees)

    async def test_requests_of_other_flows_are_not_found(self, harness: StoreHarness) -> None:
        await StoredCases(harness=harness).request()
        assert await _latest(harness.recent_past(), flow_key=FlowKey("OTHER")) == []

    async def test_what_has_not_changed_since_a_moment_is_left_out(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        older, newer = await cases.request(), await cases.request()
        past = harness.recent_past()
        assert await _latest(past, since=newer.updated_at) == [newer.id]
        assert set(await _latest(past, since=older.updated_at)) == {older.id, newer.id}
        await cases.accepted(older)
        assert set(await _latest(past, since=newer.updated_at)) == {older.id, newer.id}

    async def test_what_has_changed_too_often_is_left_out(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        await cases.accepted(request)
        past = harness.recent_past()
        assert await _latest(past, revision_max=0) == []
        assert await _latest(past, revision_max=1) == [request.id]

    async def test_how_often_a_request_has_changed_is_told_with_it(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        request = await cases.request()
        await cases.accepted(request)
        found = await harness.recent_past().latest(LENDING, CLERK, since=None, revision_max=9, limit=9)
        assert [*found] == [RecentRequest(id=request.id, revision=1)]

    async def test_runs_are_read_with_what_they_began_with_and_what_actions_gave(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        before = claimed.request.data
        started = checkpoint_of(claimed.execution.id)
        await complete(cases, claimed, claimed.fence, [write_of(started, cases.identifiers)])
        (recorded,) = await harness.recent_past().runs([claimed.request.id], CLERK)
        assert recorded.initial_data == before
        assert recorded.request.data != before
        assert [each.id for each in recorded.executions] == [claimed.execution.id]
        assert recorded.executions[0] == await cases.seen_execution(claimed.execution.id)
        assert [each.action for each in recorded.checkpoints[claimed.execution.id]] == [started.action]

    async def test_runs_come_in_the_order_of_their_requests_and_unknown_ids_are_passed_over(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        made = sorted([(await cases.request()).id for _ in range(2)])
        unknown = RequestId(cases.identifiers.uuid())
        found = await harness.recent_past().runs([made[1], unknown, made[0]], CLERK)
        assert [each.request.id for each in found] == made
        assert await harness.recent_past().runs([], CLERK) == []


async def _latest(
    past: RecentPast,
    *,
    flow_key: FlowKey = LENDING,
    actor: Actor = CLERK,
    since: datetime | None = None,
    revision_max: int = 100,
    limit: int = 100,
) -> list[RequestId]:
    found = await past.latest(flow_key, actor, since=since, revision_max=revision_max, limit=limit)
    return [each.id for each in found]
