"""The outcome table of the protocol (Running actions), cell by cell."""

from decimal import Decimal
from typing import assert_never

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    Unavailable,
    UnclearRefusal,
)
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.stepping import Run, StartAction, next_step
from orchestrator_domain.execution.verdict import GiveUp, GoOn, InDoubt, RetryLater, judge
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_contract

FIRST = CHAIN_ACTIONS[0]
READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE

PENDING, SUCCEEDED = CheckpointStatus.PENDING, CheckpointStatus.SUCCEEDED
FAILED, UNKNOWN = CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN
ON, AGAIN, UP = GoOn, RetryLater, GiveUp

OUTCOMES: dict[str, ActionResult] = {
    "success": Succeeded(result={"value": 1}),
    "unsent": ProvenUnsent(),
    "no whole answer": NoWholeAnswer(),
    "transient": Transient(),
    "transient without effect": Transient(proves_no_effect=True),
    "refused": Refused(),
    "unavailable": Unavailable(),
    "unclear": UnclearRefusal(),
    "broken contract": ContractViolated(),
    "broken output": Succeeded(result={"value": "one"}),
}

type Cell = tuple[type, CheckpointStatus, bool]
"""The verdict, the checkpoint's status after it, and whether the action's effect is uncertain."""


@frozen
class Row:
    """One outcome under one effect: with attempts left and at the last one, after certain and uncertain attempts."""

    outcome: str
    effect: Effect
    left: Cell
    last: Cell
    left_uncertain: Cell
    last_uncertain: Cell


def row(outcome: str, effect: Effect, certain: tuple[Cell, Cell], uncertain: tuple[Cell, Cell]) -> Row:
    return Row(outcome, effect, certain[0], certain[1], uncertain[0], uncertain[1])


def both(cell: Cell) -> tuple[Cell, Cell]:
    return cell, cell


DONE: Cell = (ON, SUCCEEDED, False)
WAIT: Cell = (AGAIN, PENDING, False)
WAIT_UNCERTAIN: Cell = (AGAIN, PENDING, True)
END: Cell = (UP, FAILED, False)
STUCK: Cell = (UP, UNKNOWN, True)
WRITES = (IDEMPOTENT, UNSAFE)

# An attempt that only reads is never uncertain; what an uncertain unsafe attempt is followed by is here for the sake of
# completeness: stepping starts no attempt after it.
TABLE = [
    *(row("success", effect, both(DONE), both(DONE)) for effect in Effect),
    row("unsent", READ, (WAIT, END), (WAIT, END)),
    *(row("unsent", effect, (WAIT, END), (WAIT_UNCERTAIN, STUCK)) for effect in WRITES),
    row("no whole answer", READ, (WAIT, END), (WAIT, END)),
    row("no whole answer", IDEMPOTENT, (WAIT_UNCERTAIN, STUCK), (WAIT_UNCERTAIN, STUCK)),
    row("no whole answer", UNSAFE, both(STUCK), both(STUCK)),
    row("transient", READ, (WAIT, END), (WAIT, END)),
    row("transient", IDEMPOTENT, (WAIT_UNCERTAIN, STUCK), (WAIT_UNCERTAIN, STUCK)),
    row("transient", UNSAFE, both(STUCK), both(STUCK)),
    row("transient without effect", READ, (WAIT, END), (WAIT, END)),
    row("transient without effect", IDEMPOTENT, (WAIT, END), (WAIT_UNCERTAIN, STUCK)),
    row("transient without effect", UNSAFE, (WAIT, END), both(STUCK)),
    *(
        row(outcome, effect, both(END), both(END if effect is READ else STUCK))
        for outcome in ("refused", "unavailable")
        for effect in Effect
    ),
    *(
        row(outcome, effect, both(end), both(end))
        for outcome in ("unclear", "broken contract", "broken output")
        for effect, end in ((READ, END), (IDEMPOTENT, STUCK), (UNSAFE, STUCK))
    ),
]

CELLS = [
    pytest.param(
        line.outcome, line.effect, uncertain, attempts, cell, id=f"{line.outcome}-{line.effect}-{label}"
    )
    for line in TABLE
    for label, uncertain, attempts, cell in (
        ("attempts left", False, 2, line.left),
        ("last attempt", False, 3, line.last),
        ("attempts left, uncertain", True, 2, line.left_uncertain),
        ("last attempt, uncertain", True, 3, line.last_uncertain),
    )
]


def test_the_table_has_every_outcome_under_every_effect() -> None:
    assert {(line.outcome, line.effect) for line in TABLE} == {
        (outcome, effect) for outcome in OUTCOMES for effect in Effect
    }


@pytest.mark.parametrize(("outcome", "effect", "uncertain", "attempts", "expected"), CELLS)
def test_an_attempt_is_judged_by_the_table(
    run: Run, outcome: str, effect: Effect, attempts: int, expected: Cell, *, uncertain: bool
) -> None:
    step = started(run, effect, attempts=attempts, uncertain=uncertain and effect is not READ)
    verdict = judge(step, OUTCOMES[outcome], fraction=0.5)
    assert (type(verdict), verdict.checkpoint.status, verdict.checkpoint.uncertain) == expected


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_verdict_leaves_key_hash_effect_and_attempts_as_the_start_stored_them(
    run: Run, outcome: str
) -> None:
    step = started(run, IDEMPOTENT, attempts=2)
    checkpoint = judge(step, OUTCOMES[outcome], fraction=0.5).checkpoint
    assert _identity(checkpoint) == _identity(step.start)


def test_a_success_keeps_the_result_and_the_providers_reference(run: Run) -> None:
    success = Succeeded(result={"value": 7}, provider_reference="loan-7")
    verdict = judge(started(run, READ), success, fraction=0.5)
    assert (verdict.checkpoint.result, verdict.checkpoint.provider_reference) == ({"value": 7}, "loan-7")
    assert verdict.checkpoint.error_code is None


@pytest.mark.parametrize("outcome", [name for name in OUTCOMES if not name.startswith(("success", "broken"))])
def test_a_checkpoint_and_its_verdict_carry_the_code_of_the_result(run: Run, outcome: str) -> None:
    result = OUTCOMES[outcome]
    assert not isinstance(result, Succeeded)
    verdict = judge(started(run, READ), evolve(result, error_code="SOME_CODE"), fraction=0.5)
    assert verdict.checkpoint.error_code == "SOME_CODE"
    match verdict:
        case RetryLater(error_code=code) | GiveUp(error_code=code):
            assert code == "SOME_CODE"
        case GoOn() | InDoubt():
            pytest.fail("Only a success goes on.")
        case _ as unreachable:
            assert_never(unreachable)


@pytest.mark.parametrize(
    ("broken", "pointer"),
    [
        ({"value": "marker-7c1"}, "/value"),
        ({}, ""),
        ({"value": 1, "other": "marker-7c1\0"}, "/other"),
        ({"value": 1, "other": "marker-7c1\ud800"}, "/other"),
        ({"value": 1, "other": Decimal("1e999999")}, "/other"),
        ({"value": 1, "other": 1.5}, "/other"),
    ],
)
def test_a_success_outside_its_contract_is_located_and_never_quoted(
    run: Run, broken: JsonObject, pointer: str
) -> None:
    verdict = judge(started(run, READ), Succeeded(result=broken), fraction=0.5)
    assert isinstance(verdict, GiveUp)
    assert verdict.error_code == "CONTRACT_VIOLATION"
    assert verdict.detail == {"pointers": [pointer]}
    assert verdict.checkpoint.result is None
    assert "marker" not in repr(verdict)


@pytest.mark.parametrize(("age", "verdict"), [(60.0, RetryLater), (60.001, GiveUp)])
def test_an_unanswered_attempt_is_not_repeated_once_its_key_may_be_forgotten(
    run: Run, age: float, verdict: type
) -> None:
    step = started(run, IDEMPOTENT, key_memory_seconds=60.0, age=age)
    judged = judge(step, NoWholeAnswer(), fraction=0.5)
    assert type(judged) is verdict
    assert judged.checkpoint.status is (PENDING if verdict is RetryLater else UNKNOWN)


@pytest.mark.parametrize("outcome", [ProvenUnsent(), Transient(proves_no_effect=True)])
def test_a_forgotten_key_stops_no_retry_while_every_attempt_is_known_to_have_had_no_effect(
    run: Run, outcome: ActionResult
) -> None:
    step = started(run, IDEMPOTENT, key_memory_seconds=60.0, age=1e9)
    assert isinstance(judge(step, outcome, fraction=0.5), RetryLater)


@pytest.mark.parametrize("effect", [READ, UNSAFE])
def test_key_memory_says_nothing_of_other_effects(run: Run, effect: Effect) -> None:
    fresh = judge(started(run, effect, key_memory_seconds=60.0), NoWholeAnswer(), fraction=0.5)
    old = judge(started(run, effect, key_memory_seconds=60.0, age=1e9), NoWholeAnswer(), fraction=0.5)
    assert (type(old), old.checkpoint.status) == (type(fresh), fresh.checkpoint.status)


@given(seconds=st.floats(allow_nan=True, allow_infinity=True))
def test_a_wait_is_bounded_whatever_the_provider_asks_for(run: Run, seconds: float) -> None:
    verdict = judge(started(run, READ), Transient(retry_after_seconds=seconds), fraction=0.5)
    assert isinstance(verdict, RetryLater)
    assert 2.0 <= verdict.delay_seconds <= 300.0


# An action is parked without an attempt being counted until its first start is an hour ago.


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("uncertain", [False, True])
@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize(("age", "delay"), [(0.0, 30.0), (3599.0, 359.9)])
def test_what_was_parked_is_as_before_its_start(
    run: Run, effect: Effect, attempts: int, age: float, delay: float, *, uncertain: bool
) -> None:
    step = started(run, effect, attempts=attempts, uncertain=uncertain, age=age)
    verdict = judge(step, Parked(retry_after_seconds=30.0), fraction=0.0)
    assert isinstance(verdict, RetryLater)
    assert (verdict.delay_seconds, verdict.error_code) == (delay, "CIRCUIT_OPEN")
    before = evolve(step.start, status=PENDING, attempts=attempts - 1, error_code="CIRCUIT_OPEN")
    assert verdict.checkpoint == before


@pytest.mark.parametrize(("attempts", "verdict", "status"), [(2, RetryLater, PENDING), (3, GiveUp, FAILED)])
@pytest.mark.parametrize("effect", list(Effect))
def test_after_an_hour_what_was_parked_counts_as_an_attempt_that_was_not_sent(
    run: Run, effect: Effect, attempts: int, verdict: type, status: CheckpointStatus
) -> None:
    judged = judge(
        started(run, effect, attempts=attempts, age=3600.0), Parked(retry_after_seconds=30.0), fraction=0.5
    )
    assert type(judged) is verdict
    assert (judged.checkpoint.status, judged.checkpoint.attempts) == (status, attempts)
    assert not judged.checkpoint.uncertain


def test_parking_for_too_long_after_an_uncertain_write_is_for_reconciliation(run: Run) -> None:
    step = started(run, IDEMPOTENT, attempts=3, uncertain=True, age=3600.0)
    verdict = judge(step, Parked(retry_after_seconds=30.0), fraction=0.5)
    assert (type(verdict), verdict.checkpoint.status) == (GiveUp, UNKNOWN)


def started(
    run: Run,
    effect: Effect,
    *,
    attempts: int = 1,
    uncertain: bool = False,
    key_memory_seconds: float | None = None,
    age: float = 0.0,
) -> StartAction:
    """Return the first action's attempt number `attempts`, of 3."""
    contract = chain_contract(FIRST, effect, key_memory_seconds=key_memory_seconds)
    step = next_step(evolve(run, contracts={FIRST: contract}))
    assert isinstance(step, StartAction)
    start = evolve(step.start, attempts=attempts, uncertain=uncertain, first_attempt_age_seconds=age)
    return evolve(step, start=start)


def _identity(checkpoint: Checkpoint) -> tuple[object, ...]:
    return (
        checkpoint.action,
        checkpoint.external_key,
        checkpoint.input_hash,
        checkpoint.effect,
        checkpoint.attempts,
    )
