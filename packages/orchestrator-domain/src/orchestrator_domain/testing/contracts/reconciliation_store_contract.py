"""What the port ReconciliationStore promises."""

from collections.abc import Callable, Iterable

import pytest
from attrs import evolve

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import Evidence, ResolutionKind, Resolved
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import (
    BusinessScope,
    ExecutionId,
    IdempotencyKey,
    ResolutionId,
    Sha256Hex,
)
from orchestrator_domain.ports.reconciliation_store import CasePosition, ExecutionCase, ResolutionRecord
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.fenced_writes import checkpoint, require_reconciliation
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import CLERK, LOOKUP, checkpoint_of, write_of

HERE = CLERK.scopes
ELSEWHERE = frozenset({BusinessScope("SOUTH")})
FOUND: JsonObject = {"found": True}

type Outcome = Callable[[ExecutionCase], Resolved]


class ReconciliationStoreContract:
    async def test_a_case_is_shown_within_its_scope_only_whoever_owns_the_request(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        execution = await stopped(cases)
        for scopes, sees in (
            (HERE, True),
            (HERE | ELSEWHERE, True),
            (ELSEWHERE, False),
            (frozenset(), False),
        ):
            assert (await found(harness, execution.id, scopes) is not None) is sees
            assert (await locked(harness, execution.id, scopes) is not None) is sees
            assert bool(await listed(harness, scopes)) is sees

    async def test_a_case_holds_execution_request_and_every_checkpoint(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        execution = await stopped(cases)
        case = await a_case(harness, execution.id)
        assert case.execution == await cases.seen_execution(execution.id)
        assert case.request == (await cases.seen(execution.request_id)).request
        assert [(one.action, one.status) for one in case.checkpoints] == [(LOOKUP, CheckpointStatus.UNKNOWN)]
        assert case.as_accepted
        assert case.request.data
        assert without_age(await listed(harness, HERE)) == without_age([without_data(case)])
        seen_locked = await locked(harness, execution.id, HERE)
        assert seen_locked is not None
        assert without_age([seen_locked]) == without_age([case])

    async def test_a_case_tells_what_its_history_says_of_probes(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        await cases.accepted()
        claimed = await cases.claim()
        started = checkpoint_of(claimed.execution.id, effect=Effect.NON_IDEMPOTENT_WRITE)
        await checkpoint(cases, claimed, claimed.fence, [write_of(started, cases.identifiers, before=None)])
        lost = write_of(started.unknown(), cases.identifiers, before=(started.status, started.attempts))
        asked = evolve(
            cases.fact(claimed.request, AuditKind.EFFECT_PROBED, claimed.execution.id),
            detail={"action": LOOKUP, "probe": "PROVIDER_TIMEOUT"},
        )
        await harness.queue().retry_later(
            claimed.fence, [lost], delay_seconds=0.0, error_code="PROVIDER_TIMEOUT", fact=asked
        )
        again = await cases.claim()
        missing = evolve(
            cases.fact(again.request, AuditKind.RECONCILIATION_REQUIRED, again.execution.id),
            detail={"errorCode": "PROVIDER_TIMEOUT", "action": LOOKUP, "probe": "NOT_FOUND"},
        )
        await harness.queue().require_reconciliation(
            again.fence, [], error_code="PROVIDER_TIMEOUT", fact=missing
        )
        other = await stopped(cases)
        made = (await a_case(harness, claimed.execution.id)).probes
        assert made is not None
        assert (made.action, made.asked, made.outcome) == (LOOKUP, 2, "NOT_FOUND")
        assert made.asked_at == (await harness.history(claimed.execution.request_id))[-1].created_at
        assert {case.execution.id: case.probes for case in await listed(harness, HERE)} == {
            claimed.execution.id: made,
            other.id: None,
        }

    async def test_an_execution_that_does_not_exist_is_none(self, harness: StoreHarness) -> None:
        unknown = ExecutionId(StoredCases(harness=harness).identifiers.uuid())
        assert await found(harness, unknown, HERE) is None
        assert await locked(harness, unknown, HERE) is None

    async def test_a_request_that_moved_is_not_as_accepted(self, harness: StoreHarness) -> None:
        execution = await stopped(StoredCases(harness=harness))
        await harness.move_request(execution.request_id)
        assert not (await a_case(harness, execution.id)).as_accepted

    async def test_cases_are_listed_by_status_in_the_order_in_which_they_stopped(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        stops = [await stopped(cases) for _ in range(3)]
        pending = await cases.accepted()
        assert [case.execution.id for case in await listed(harness, HERE)] == [one.id for one in stops]
        (waiting,) = await listed(harness, HERE, status=ExecutionStatus.PENDING)
        assert waiting.execution.id == pending.id

    async def test_a_list_goes_on_behind_a_place(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        stops = [await stopped(cases) for _ in range(3)]
        seen: list[ExecutionId] = []
        after: CasePosition | None = None
        while page := await listed(harness, HERE, after=after, limit=1):
            (case,) = page
            seen.append(case.execution.id)
            assert case.execution.updated_at is not None
            after = CasePosition(since=case.execution.updated_at, execution_id=case.execution.id)
        assert seen == [one.id for one in stops]

    async def test_a_resumed_execution_is_due_at_once_under_a_growing_token(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        resumed = await resolved_with(cases, before, afresh)
        assert (resumed.status, resumed.error_code) == (ExecutionStatus.PENDING, None)
        claimed = await cases.claim()
        assert claimed.execution.id == before.id
        assert claimed.fence.token > before.fencing_token
        assert claimed.claims_without_progress == 1
        (one,) = claimed.checkpoints
        assert (one.status, one.attempts, one.uncertain) == (CheckpointStatus.PENDING, 0, False)
        assert (one.started_at, one.finished_at, one.first_attempt_age_seconds) == (None, None, 0.0)
        assert one.external_key == checkpoint_of(before.id).external_key

    async def test_a_resumed_execution_keeps_its_request_as_it_was(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        seen = await cases.seen(before.request_id)
        await resolved_with(cases, before, afresh)
        assert await cases.seen(before.request_id) == seen

    async def test_a_confirmed_result_becomes_the_checkpoint(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        await resolved_with(cases, before, confirmed)
        (one,) = await harness.checkpoints(before.id)
        assert (one.status, one.result, one.uncertain) == (CheckpointStatus.SUCCEEDED, FOUND, False)
        assert one.started_at is not None
        assert one.finished_at is not None

    async def test_a_closed_execution_releases_its_request_as_it_was_and_bumps_the_revision(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        blocked = (await cases.seen(before.request_id)).request
        checkpoints = without_ages(await harness.checkpoints(before.id))
        ended = await resolved_with(cases, before, closed)
        assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, "CLOSED_WITHOUT_TRANSITION")
        seen = await cases.seen(before.request_id)
        assert seen.active_execution is None
        assert seen.request == evolve(blocked.released(), updated_at=seen.request.updated_at)
        assert without_ages(await harness.checkpoints(before.id)) == checkpoints
        assert not await harness.queue().claim(owner=WORKER, limit=10, lease_seconds=LEASE_SECONDS)
        assert await listed(harness, HERE) == []
        assert (await cases.accepted(seen.request, key="check-2")).status is ExecutionStatus.PENDING

    async def test_a_resolution_is_kept_whole_and_with_its_fact(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        record = record_of(cases, before, key="resolve-1")
        await resolved_with(cases, before, confirmed, record=record)
        (kept,) = await resolutions(harness, before.id)
        assert kept.created_at is not None
        assert evolve(kept, created_at=None) == record
        history = list(await harness.history(before.request_id))
        assert history[-1].kind is AuditKind.RECONCILIATION_RESOLVED
        assert history[-1].execution_id == before.id
        assert verify_chain(history) is None

    async def test_resolutions_are_given_in_the_order_of_writing(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        records = [record_of(cases, before, key=f"resolve-{number}") for number in range(2)]
        await resolved_with(cases, before, afresh, record=records[0])
        await stopped_again(cases)
        await resolved_with(cases, before, closed, record=records[1])
        assert [one.key for one in await resolutions(harness, before.id)] == [one.key for one in records]

    async def test_every_stop_of_an_execution_has_a_token_that_no_resolution_and_no_other_stop_shares(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        stops = [await stopped(cases)]
        for number in range(2):
            record = record_of(cases, stops[-1], key=f"resolve-{number}")
            resumed = await resolved_with(cases, stops[-1], afresh, record=record)
            assert resumed.fencing_token == stops[-1].fencing_token
            stops.append(await stopped_again(cases))
            seen = await locked(harness, stops[-1].id, HERE)
            (one,) = await listed(harness, HERE)
            assert seen is not None
            assert seen.execution.fencing_token == one.execution.fencing_token == stops[-1].fencing_token
        assert [one.id for one in stops] == [stops[0].id] * 3
        assert stops[0].fencing_token < stops[1].fencing_token < stops[2].fencing_token

    async def test_a_story_that_fails_after_a_resolution_leaves_nothing_of_it(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        before = await stopped(cases)
        history = await harness.history(before.request_id)

        async def story(work: Transaction) -> None:
            await _saved(work, cases, before, confirmed, record_of(cases, before))
            raise StoryFailed

        with pytest.raises(StoryFailed):
            await harness.unit_of_work().run(story)
        assert await cases.seen_execution(before.id) == before
        assert await harness.history(before.request_id) == history
        assert list(await resolutions(harness, before.id)) == []
        (one,) = await harness.checkpoints(before.id)
        assert one.status is CheckpointStatus.UNKNOWN


class StoryFailed(Exception):
    """The story of a test ends here."""


async def stopped(cases: StoredCases) -> Execution:
    """Accept an event on a new request and bring its execution to where an operator is needed."""
    await cases.accepted()
    return await stopped_again(cases)


async def stopped_again(cases: StoredCases) -> Execution:
    """Claim the only execution that is due, start its write and lose the answer."""
    claimed = await cases.claim()
    known = next(iter(claimed.checkpoints), None)
    started = checkpoint_of(claimed.execution.id, effect=Effect.NON_IDEMPOTENT_WRITE)
    before = None if known is None else (known.status, known.attempts)
    await checkpoint(cases, claimed, claimed.fence, [write_of(started, cases.identifiers, before=before)])
    lost = write_of(started.unknown(), cases.identifiers, before=(started.status, started.attempts))
    await require_reconciliation(cases, claimed, claimed.fence, [lost])
    return await cases.seen_execution(claimed.execution.id)


def afresh(case: ExecutionCase) -> Resolved:
    return Resolved(
        execution=evolve(case.execution, status=ExecutionStatus.PENDING, error_code=None),
        checkpoint=checkpoint_of(
            case.execution.id,
            status=CheckpointStatus.PENDING,
            attempts=0,
            effect=Effect.NON_IDEMPOTENT_WRITE,
        ),
    )


def confirmed(case: ExecutionCase) -> Resolved:
    (known,) = case.checkpoints
    return evolve(afresh(case), checkpoint=known.succeeded(dict(FOUND), "reference-1"))


def closed(case: ExecutionCase) -> Resolved:
    ended = evolve(case.execution, status=ExecutionStatus.FAILED, error_code="CLOSED_WITHOUT_TRANSITION")
    return Resolved(execution=ended)


async def resolved_with(
    cases: StoredCases,
    execution: Execution,
    outcome: Outcome,
    *,
    record: ResolutionRecord | None = None,
) -> Execution:
    """Lock the case and save what the outcome makes of it."""

    async def story(work: Transaction) -> Execution:
        return await _saved(work, cases, execution, outcome, record or record_of(cases, execution))

    return await cases.harness.unit_of_work().run(story)


async def _saved(
    work: Transaction, cases: StoredCases, execution: Execution, outcome: Outcome, record: ResolutionRecord
) -> Execution:
    case = await work.reconciliation.lock_case(execution.id, HERE)
    assert case is not None, "the clerk's scope sees it"
    fact = cases.fact(case.request, AuditKind.RECONCILIATION_RESOLVED, execution.id)
    return await work.reconciliation.save(case, outcome(case), record=record, fact=fact)


def record_of(cases: StoredCases, execution: Execution, *, key: str = "resolve-1") -> ResolutionRecord:
    return ResolutionRecord(
        id=ResolutionId(cases.identifiers.uuid()),
        execution_id=execution.id,
        key=IdempotencyKey(key),
        payload_hash=Sha256Hex("b" * 64),
        action=LOOKUP,
        kind=ResolutionKind.RESUME_WITH_RESULT,
        evidence=Evidence(text="Seen in the provider's ledger.", reference="CASE-1"),
        result=dict(FOUND),
        operator=CLERK.subject,
        correlation_id=None,
    )


async def found(
    harness: StoreHarness, execution_id: ExecutionId, scopes: frozenset[BusinessScope]
) -> ExecutionCase | None:
    async def story(work: Transaction) -> ExecutionCase | None:
        return await work.reconciliation.find_case(execution_id, scopes)

    return await harness.unit_of_work().run(story)


async def locked(
    harness: StoreHarness, execution_id: ExecutionId, scopes: frozenset[BusinessScope]
) -> ExecutionCase | None:
    async def story(work: Transaction) -> ExecutionCase | None:
        return await work.reconciliation.lock_case(execution_id, scopes)

    return await harness.unit_of_work().run(story)


async def a_case(harness: StoreHarness, execution_id: ExecutionId) -> ExecutionCase:
    case = await found(harness, execution_id, HERE)
    assert case is not None, "the clerk's scope sees it"
    return case


async def listed(
    harness: StoreHarness,
    scopes: frozenset[BusinessScope],
    *,
    status: ExecutionStatus = ExecutionStatus.RECONCILIATION_REQUIRED,
    after: CasePosition | None = None,
    limit: int = 100,
) -> list[ExecutionCase]:
    async def story(work: Transaction) -> list[ExecutionCase]:
        return list(await work.reconciliation.list_cases(scopes, status=status, after=after, limit=limit))

    return await harness.unit_of_work().run(story)


async def resolutions(harness: StoreHarness, execution_id: ExecutionId) -> list[ResolutionRecord]:
    async def story(work: Transaction) -> list[ResolutionRecord]:
        return list(await work.reconciliation.resolutions(execution_id))

    return await harness.unit_of_work().run(story)


def without_data(case: ExecutionCase) -> ExecutionCase:
    """Return the case as a list shows it."""
    return evolve(
        case, request=evolve(case.request, data={}), execution=evolve(case.execution, event_data={})
    )


def without_age(cases: list[ExecutionCase]) -> list[ExecutionCase]:
    return [evolve(case, checkpoints=tuple(without_ages(case.checkpoints))) for case in cases]


def without_ages(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints without their ages, which pass by themselves."""
    return [evolve(one, first_attempt_age_seconds=0.0, ended_age_seconds=0.0) for one in checkpoints]
