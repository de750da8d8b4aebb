"""What is in doubt is asked about before anybody is called; what is asked may confirm, and never prove absence."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
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
from orchestrator_domain.execution.poison import CLAIMS_WITHOUT_PROGRESS_MAX
from orchestrator_domain.execution.probe import (
    AskLater,
    CallHuman,
    Confirmed,
    EffectConfirmed,
    Inconclusive,
    NotFound,
    ProbeResult,
    ProbesMade,
    judge_probe,
    probe_detail,
    probes_made,
)
from orchestrator_domain.execution.retry import probe_delay
from orchestrator_domain.execution.stepping import AskProbe, Run, StartAction, StopRun, next_step
from orchestrator_domain.execution.verdict import GiveUp, InDoubt, judge
from orchestrator_domain.flow.contract import Effect, ProbeContract
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_contracts

FIRST = CHAIN_ACTIONS[0]
READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE
UNKNOWN = CheckpointStatus.UNKNOWN
WINDOW = ProbeContract(ask_for_seconds=600.0, backoff_seconds=5.0)
NOTHING_SAID: tuple[ProbeResult, ...] = (NotFound(), Inconclusive(error_code="PROVIDER_TIMEOUT"))
RESULTS: tuple[ActionResult, ...] = (
    Succeeded(result={"value": 1}),
    ProvenUnsent(),
    Parked(retry_after_seconds=1.0),
    NoWholeAnswer(),
    Transient(),
    Refused(),
    UnclearRefusal(),
    ContractViolated(),
    Unavailable(),
)


def probed(run: Run, effect: Effect) -> Run:
    """Return the run with actions of this effect that can be asked about."""
    contracts = chain_contracts(dict.fromkeys(CHAIN_ACTIONS, effect))
    return evolve(run, contracts={key: evolve(one, probe=WINDOW) for key, one in contracts.items()})


def started(run: Run) -> StartAction:
    step = next_step(run)
    assert isinstance(step, StartAction)
    return step


def with_first(run: Run, checkpoint: Checkpoint) -> Run:
    return evolve(run, checkpoints={FIRST: checkpoint})


def in_doubt(run: Run, *, age: float = 0.0) -> AskProbe:
    """Return the question about an unsafe action whose answer was lost this long ago."""
    unsafe = probed(run, UNSAFE)
    lost = evolve(started(unsafe).start.unknown("PROVIDER_TIMEOUT"), ended_age_seconds=age)
    step = next_step(with_first(unsafe, lost))
    assert isinstance(step, AskProbe)
    return step


def test_a_lost_answer_of_an_unsafe_write_is_asked_about_and_not_repeated(run: Run) -> None:
    unsafe = probed(run, UNSAFE)
    verdict = judge(started(unsafe), NoWholeAnswer(), fraction=0.0)
    assert isinstance(verdict, InDoubt)
    assert (verdict.checkpoint.status, verdict.error_code) == (UNKNOWN, "PROVIDER_TIMEOUT")
    step = next_step(with_first(unsafe, verdict.checkpoint))
    assert isinstance(step, AskProbe)
    assert (step.before, step.doubted) == (verdict.checkpoint, verdict.checkpoint)
    assert (step.inputs, step.doubted.external_key) == ({"item": "ladder"}, f"{run.execution.id}:first")


def test_a_write_whose_run_died_is_in_doubt_before_it_is_asked_about(run: Run) -> None:
    unsafe = probed(run, UNSAFE)
    running = started(unsafe).start
    step = next_step(with_first(unsafe, running))
    assert isinstance(step, AskProbe)
    assert step.before == running
    assert (step.doubted.status, step.doubted.uncertain, step.doubted.attempts) == (UNKNOWN, True, 1)


def test_an_idempotent_write_is_tried_as_often_as_it_may_be_before_anybody_asks(run: Run) -> None:
    idempotent = probed(run, IDEMPOTENT)
    first = started(idempotent)
    waiting = judge(first, NoWholeAnswer(), fraction=0.0).checkpoint
    assert isinstance(next_step(with_first(idempotent, waiting)), StartAction)
    last = evolve(waiting, attempts=3)
    assert isinstance(next_step(with_first(idempotent, last)), AskProbe)
    uncertain = evolve(first, start=evolve(first.start, attempts=3, uncertain=True))
    assert isinstance(judge(uncertain, Refused(), fraction=0.0), InDoubt)


def test_without_a_probe_nothing_is_asked(run: Run) -> None:
    unsafe = probed(run, UNSAFE)
    blind = evolve(unsafe, contracts=chain_contracts(dict.fromkeys(CHAIN_ACTIONS, UNSAFE)))
    assert isinstance(judge(started(blind), NoWholeAnswer(), fraction=0.0), GiveUp)
    assert isinstance(next_step(with_first(blind, started(blind).start)), StopRun)


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_exactly_what_may_have_happened_is_asked_about(
    run: Run, result: ActionResult, effect: Effect
) -> None:
    step = started(probed(run, effect))
    plain = evolve(step, contract=evolve(step.contract, probe=None))
    without, verdict = judge(plain, result, fraction=0.0), judge(step, result, fraction=0.0)
    ends_in_doubt = isinstance(without, GiveUp) and without.checkpoint.status is UNKNOWN
    assert isinstance(verdict, InDoubt) is ends_in_doubt
    assert verdict.checkpoint == without.checkpoint
    if not ends_in_doubt:
        assert verdict == without


def test_a_confirmed_effect_has_its_result_and_is_no_longer_uncertain(run: Run) -> None:
    verdict = judge_probe(
        in_doubt(run), Confirmed(result={"value": 7}, provider_reference="PAG-1"), fraction=0.0
    )
    assert isinstance(verdict, EffectConfirmed)
    known = verdict.checkpoint
    assert (known.status, known.result, known.uncertain) == (CheckpointStatus.SUCCEEDED, {"value": 7}, False)
    assert (known.attempts, known.provider_reference, known.error_code) == (1, "PAG-1", None)


@pytest.mark.parametrize("result", [{"value": "seven"}, {}, {"value": 1.5}, {"value": None}])
def test_a_confirmation_that_breaks_the_output_schema_confirms_nothing(run: Run, result: JsonObject) -> None:
    verdict = judge_probe(in_doubt(run), Confirmed(result=result), fraction=0.0)
    assert verdict == AskLater(delay_seconds=5.0, outcome="CONTRACT_VIOLATION")


@pytest.mark.parametrize("result", NOTHING_SAID)
@pytest.mark.parametrize("age", [0.0, 5.0, 100.0, 300.0])
def test_what_nobody_confirms_is_asked_again_for_a_while(run: Run, result: ProbeResult, age: float) -> None:
    verdict = judge_probe(in_doubt(run, age=age), result, fraction=0.0)
    assert isinstance(verdict, AskLater)
    assert verdict.delay_seconds == max(5.0, age)


@pytest.mark.parametrize("result", NOTHING_SAID)
@pytest.mark.parametrize("age", [301.0, 600.0, 1e9])
def test_somebody_is_called_when_it_was_asked_for_as_long_as_the_contract_asks(
    run: Run, result: ProbeResult, age: float
) -> None:
    assert isinstance(judge_probe(in_doubt(run, age=age), result, fraction=0.0), CallHuman)


@given(
    age=st.floats(min_value=0.0, max_value=1e9),
    fraction=st.floats(min_value=0.0, max_value=1.0, exclude_max=True),
    result=st.sampled_from(NOTHING_SAID),
)
def test_no_answer_but_a_confirmation_ever_lets_a_write_run_again_or_count_as_done(
    run: Run, age: float, fraction: float, result: ProbeResult
) -> None:
    step = in_doubt(run, age=age)
    verdict = judge_probe(step, result, fraction=fraction)
    assert isinstance(verdict, AskLater | CallHuman)
    again = next_step(with_first(probed(run, UNSAFE), step.doubted))
    assert isinstance(again, AskProbe)


def test_a_provider_may_ask_for_more_time_within_what_the_contract_allows(run: Run) -> None:
    step = in_doubt(run)
    for wanted, waited in ((60.0, 60.0), (1e9, 300.0)):
        busy = Inconclusive(error_code="PROVIDER_UNAVAILABLE", retry_after_seconds=wanted)
        verdict = judge_probe(step, busy, fraction=0.0)
        assert verdict == AskLater(delay_seconds=waited, outcome="PROVIDER_UNAVAILABLE")


@given(
    window=st.floats(min_value=1.0, max_value=86_400.0),
    backoff=st.floats(min_value=1.0, max_value=86_400.0),
    fractions=st.lists(st.floats(min_value=0.0, max_value=1.0, exclude_max=True), min_size=30, max_size=30),
)
def test_even_a_day_of_asking_takes_fewer_claims_than_poison(
    window: float, backoff: float, fractions: list[float]
) -> None:
    contract = ProbeContract(ask_for_seconds=window, backoff_seconds=backoff)
    age, asked = 0.0, 1
    for fraction in fractions:
        delay = probe_delay(contract, doubt_age_seconds=age, fraction=fraction)
        if delay is None:
            break
        assert delay >= max(backoff, age)
        age, asked = age + delay, asked + 1
    # One more claim goes on when the last one is over, and one was the attempt's own.
    assert asked + 2 <= CLAIMS_WITHOUT_PROGRESS_MAX
    assert age <= window


def test_the_history_keeps_what_a_probe_came_to_and_nothing_of_its_answer(run: Run) -> None:
    step = in_doubt(run)
    found = judge_probe(step, Confirmed(result={"value": 7}, provider_reference="PAG-1"), fraction=0.0)
    assert probe_detail(step, found) == {"action": "first", "probe": "CONFIRMED"}
    missing = judge_probe(step, NotFound(), fraction=0.0)
    assert probe_detail(step, missing) == {"action": "first", "probe": "NOT_FOUND"}


def test_what_the_history_tells_of_probes_is_counted_for_the_last_action_in_doubt() -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    moments = [noon + timedelta(seconds=number) for number in range(6)]
    details: list[JsonObject | None] = [
        {"action": "first", "probe": "CONFIRMED"},
        {"errorCode": "PROVIDER_TIMEOUT", "action": "second"},
        {"action": "second", "probe": "PROVIDER_TIMEOUT"},
        None,
        {"errorCode": "PROVIDER_TIMEOUT", "action": "second", "probe": "NOT_FOUND"},
        {"errorCode": "EVALUATION_ERROR"},
    ]
    made = probes_made(zip(details, moments, strict=True))
    assert made == ProbesMade(action=ActionKey("second"), asked=2, outcome="NOT_FOUND", asked_at=moments[4])
    assert probes_made([]) is None
