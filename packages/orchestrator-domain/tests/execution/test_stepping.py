"""From checkpoints to the next step: what is reused, what is repeated, and what is left to an operator."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    ProvenUnsent,
    Refused,
    Transient,
    UnclearRefusal,
)
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.stepping import (
    FinishTransition,
    Run,
    StartAction,
    Step,
    StopRun,
    effective_effect,
    may_have_written,
    next_step,
)
from orchestrator_domain.execution.verdict import judge
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.identifiers import ActionKey, Sha256Hex
from orchestrator_domain.testing.chain import (
    CHAIN_ACTIONS,
    chain_contract,
    chain_contracts,
    chain_document,
    chain_result,
)

FIRST, SECOND, THIRD = CHAIN_ACTIONS
READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE
PENDING, RUNNING = CheckpointStatus.PENDING, CheckpointStatus.RUNNING
SUCCEEDED, FAILED, UNKNOWN = CheckpointStatus.SUCCEEDED, CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN


def test_a_fresh_run_starts_its_first_action(run: Run) -> None:
    step = next_step(run)
    assert isinstance(step, StartAction)
    assert (step.definition.id, step.inputs, step.before) == (FIRST, {"item": "ladder"}, None)
    assert step.start == Checkpoint(
        action=FIRST,
        status=RUNNING,
        attempts=1,
        external_key=f"{run.execution.id}:first",
        input_hash=Sha256Hex(sha256_hex({"item": "ladder"})),
        effect=READ,
    )


def test_a_result_feeds_the_inputs_of_the_next_action(run: Run) -> None:
    step = next_step(with_checkpoints(run, succeeded(run, FIRST)))
    assert isinstance(step, StartAction)
    assert (step.definition.id, step.inputs) == (SECOND, {"item": "ladder", "previous": 1})


def test_a_run_finishes_with_every_result_under_its_key(run: Run) -> None:
    step = next_step(all_succeeded(run))
    assert isinstance(step, FinishTransition)
    assert step.results == {FIRST: {"value": 1}, SECOND: {"value": 2}, THIRD: {"value": 3}}
    assert step.context["results"] == {"first": {"value": 1}, "second": {"value": 2}, "third": {"value": 3}}


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_what_a_run_has_seen_itself_takes_it_where_its_checkpoints_would(run: Run, done: int) -> None:
    recovered = with_checkpoints(run, *(succeeded(run, action) for action in CHAIN_ACTIONS[:done]))
    own = {action: chain_result(action).result for action in CHAIN_ACTIONS[:done]}
    assert next_step(evolve(recovered, own_results=own)) == next_step(recovered)


def test_what_a_run_has_seen_itself_is_not_computed_again(run: Run) -> None:
    recovered = with_checkpoints(run, succeeded(run, FIRST))
    elsewhere = evolve(recovered, request_data={"item": "other"})
    assert isinstance(next_step(elsewhere), StopRun)
    step = next_step(evolve(elsewhere, own_results={FIRST: {"value": 1}}))
    assert isinstance(step, StartAction)
    assert step.inputs["previous"] == 1


def test_an_action_without_result_key_leaves_its_result_out_of_the_context(run: Run) -> None:
    alone = evolve(run.transition.actions[0], result_key=None)
    shortened = evolve(run, transition=evolve(run.transition, actions=(alone,)))
    step = next_step(with_checkpoints(shortened, succeeded(run, FIRST)))
    assert isinstance(step, FinishTransition)
    assert (step.results, step.context["results"]) == ({FIRST: {"value": 1}}, {})


def test_a_transition_without_actions_finishes_at_once(run: Run) -> None:
    transition = read_flow(chain_document(())).transitions[0]
    assert isinstance(next_step(evolve(run, transition=transition)), FinishTransition)


START, STUCK, END, REUSE = "start", UNKNOWN, FAILED, SUCCEEDED


@pytest.mark.parametrize(
    ("status", "effect", "uncertain", "attempts", "expected"),
    [
        (PENDING, READ, False, 1, START),
        (PENDING, READ, False, 3, END),
        (PENDING, IDEMPOTENT, False, 1, START),
        (PENDING, IDEMPOTENT, False, 3, END),
        (PENDING, IDEMPOTENT, True, 1, START),
        (PENDING, IDEMPOTENT, True, 3, STUCK),
        (PENDING, UNSAFE, False, 1, START),
        (PENDING, UNSAFE, False, 3, END),
        (PENDING, UNSAFE, True, 1, STUCK),
        (RUNNING, READ, False, 1, START),
        (RUNNING, READ, False, 3, END),
        (RUNNING, IDEMPOTENT, False, 1, START),
        (RUNNING, IDEMPOTENT, False, 3, STUCK),
        (RUNNING, IDEMPOTENT, True, 2, START),
        (RUNNING, UNSAFE, False, 1, STUCK),
        (RUNNING, UNSAFE, False, 3, STUCK),
        *((SUCCEEDED, effect, False, attempts, REUSE) for effect in Effect for attempts in (1, 3)),
        *((FAILED, effect, False, 1, END) for effect in Effect),
        (FAILED, IDEMPOTENT, True, 1, STUCK),
        (FAILED, UNSAFE, True, 1, STUCK),
        *((UNKNOWN, effect, True, 1, STUCK) for effect in (IDEMPOTENT, UNSAFE)),
    ],
)
def test_a_run_is_recovered_by_what_its_checkpoint_says(
    run: Run, status: CheckpointStatus, effect: Effect, attempts: int, expected: str, *, uncertain: bool
) -> None:
    found = checkpoint(run, FIRST, status, effect=effect, attempts=attempts, uncertain=uncertain)
    recovered = with_checkpoints(under(run, effect), found)
    step = next_step(recovered)
    match expected:
        case "start":
            assert isinstance(step, StartAction)
            assert (step.definition.id, step.before) == (FIRST, found)
            assert (step.start.status, step.start.attempts) == (RUNNING, attempts + 1)
            assert (step.start.external_key, step.start.input_hash) == (found.external_key, found.input_hash)
        case CheckpointStatus.SUCCEEDED:
            assert isinstance(step, StartAction)
            assert step.definition.id == SECOND
        case _:
            assert isinstance(step, StopRun)
            assert step.unsettled is not None
            assert (step.action, step.before, step.unsettled.status) == (FIRST, found, expected)
            assert step.unsettled.uncertain is (expected == UNKNOWN)


def test_an_interrupted_write_that_may_be_repeated_stays_uncertain(run: Run) -> None:
    found = checkpoint(run, FIRST, RUNNING, effect=IDEMPOTENT)
    step = next_step(with_checkpoints(under(run, IDEMPOTENT), found))
    assert isinstance(step, StartAction)
    assert step.start.uncertain


@pytest.mark.parametrize(
    ("status", "uncertain", "age", "starts"),
    [
        (PENDING, True, 60.0, True),
        (PENDING, True, 60.001, False),
        (RUNNING, False, 60.0, True),
        (RUNNING, False, 60.001, False),
        (PENDING, False, 1e9, True),
    ],
)
def test_a_forgotten_key_forbids_a_repeat_only_after_an_uncertain_attempt(
    run: Run, status: CheckpointStatus, age: float, *, uncertain: bool, starts: bool
) -> None:
    contract = chain_contract(FIRST, IDEMPOTENT, key_memory_seconds=60.0)
    found = checkpoint(run, FIRST, status, effect=IDEMPOTENT, uncertain=uncertain)
    aged = evolve(found, first_attempt_age_seconds=age)
    step = next_step(evolve(run, contracts={FIRST: contract}, checkpoints={FIRST: aged}))
    assert isinstance(step, StartAction if starts else StopRun)
    if isinstance(step, StopRun):
        assert step.fault.code == "EFFECT_UNKNOWN"


def test_a_provider_that_never_forgets_makes_no_key_old() -> None:
    contract = chain_contract(FIRST, IDEMPOTENT)
    old = Checkpoint(
        action=FIRST,
        status=PENDING,
        attempts=1,
        external_key="key",
        input_hash=Sha256Hex("a" * 64),
        effect=IDEMPOTENT,
        first_attempt_age_seconds=1e12,
    )
    assert effective_effect(old, contract) is IDEMPOTENT


@pytest.mark.parametrize("status", CheckpointStatus)
@pytest.mark.parametrize(
    "changes",
    [{"input_hash": Sha256Hex("b" * 64)}, {"external_key": "another:first"}, {"effect": UNSAFE}],
    ids=["hash", "key", "effect"],
)
def test_a_checkpoint_of_other_work_is_never_used_repeated_or_overwritten(
    run: Run, status: CheckpointStatus, changes: dict[str, Any]
) -> None:
    found = evolve(checkpoint(run, FIRST, status), **changes)
    step = next_step(with_checkpoints(run, found))
    assert isinstance(step, StopRun)
    assert (step.fault.code, step.action, step.unsettled) == ("CHECKPOINT_MISMATCH", FIRST, None)


def test_a_changed_result_makes_the_checkpoint_that_was_fed_by_it_foreign(run: Run) -> None:
    changed = evolve(succeeded(run, FIRST), result={"value": 99})
    step = next_step(with_checkpoints(run, changed, succeeded(run, SECOND)))
    assert isinstance(step, StopRun)
    assert (step.fault.code, step.action) == ("CHECKPOINT_MISMATCH", SECOND)


@pytest.mark.parametrize(
    ("status", "effect", "settled"),
    [
        (RUNNING, READ, FAILED),
        (RUNNING, IDEMPOTENT, UNKNOWN),
        (RUNNING, UNSAFE, UNKNOWN),
        (PENDING, IDEMPOTENT, None),
        (SUCCEEDED, UNSAFE, None),
        (None, READ, None),
    ],
)
def test_an_action_whose_contract_is_gone_stops_the_run(
    run: Run, status: CheckpointStatus | None, effect: Effect, settled: CheckpointStatus | None
) -> None:
    found = [] if status is None else [checkpoint(run, FIRST, status, effect=effect)]
    step = next_step(with_checkpoints(evolve(run, contracts={}), *found))
    assert isinstance(step, StopRun)
    assert (step.fault.code, step.action) == ("INTEGRATION_UNAVAILABLE", FIRST)
    assert (None if step.unsettled is None else step.unsettled.status) is settled


def test_an_absent_input_is_an_evaluation_error_that_names_action_and_input(run: Run) -> None:
    step = next_step(evolve(run, request_data={}))
    assert isinstance(step, StopRun)
    assert (step.fault.code, step.fault.detail) == ("EVALUATION_ERROR", {"action": "first", "input": "item"})


def test_inputs_outside_the_contract_are_located_and_never_quoted(run: Run) -> None:
    step = next_step(evolve(run, request_data={"item": 815_4711}))
    assert isinstance(step, StopRun)
    assert step.fault.code == "INPUT_CONTRACT_VIOLATION"
    assert step.fault.detail == {"action": "first", "pointers": ["/item"]}
    assert "8154711" not in repr(step.fault)


def test_an_exhausted_action_ends_with_the_code_of_its_last_attempt(run: Run) -> None:
    found = checkpoint(run, FIRST, PENDING, attempts=3)
    codes = [
        step.fault.code
        for error_code in (None, "PROVIDER_TIMEOUT")
        if isinstance(step := next_step(with_checkpoints(run, evolve(found, error_code=error_code))), StopRun)
    ]
    assert codes == ["ATTEMPTS_EXHAUSTED", "PROVIDER_TIMEOUT"]


@pytest.mark.parametrize(
    ("status", "uncertain", "written"),
    [
        (PENDING, False, False),
        (PENDING, True, True),
        (RUNNING, False, True),
        (SUCCEEDED, False, True),
        (FAILED, False, False),
        (UNKNOWN, True, True),
    ],
)
@pytest.mark.parametrize("effect", [IDEMPOTENT, UNSAFE])
def test_a_write_that_may_have_happened_forbids_a_plain_failure(
    run: Run, effect: Effect, status: CheckpointStatus, *, uncertain: bool, written: bool
) -> None:
    found = checkpoint(run, FIRST, status, effect=effect, uncertain=uncertain)
    assert may_have_written({FIRST: found}) is written


@pytest.mark.parametrize("status", CheckpointStatus)
def test_a_read_never_forbids_a_plain_failure(run: Run, status: CheckpointStatus) -> None:
    assert not may_have_written({FIRST: checkpoint(run, FIRST, status)})


# Laws over everything that a run can reach.

ANSWERS = st.sampled_from(
    [
        "success",
        "crash",
        ProvenUnsent(),
        NoWholeAnswer(),
        Transient(),
        Transient(proves_no_effect=True),
        Refused(),
        UnclearRefusal(),
        ContractViolated(),
    ]
)
EFFECTS = st.fixed_dictionaries({action: st.sampled_from(Effect) for action in CHAIN_ACTIONS})


@given(effects=EFFECTS, answers=st.lists(ANSWERS, max_size=12))
def test_whatever_happens_a_run_keeps_its_promises(
    run: Run, effects: dict[ActionKey, Effect], answers: list[ActionResult | str]
) -> None:
    """No success is repeated, no unsafe call follows an uncertain one, attempts are bounded, and it always ends."""
    now = evolve(run, contracts=chain_contracts(effects), checkpoints={})
    starts: dict[ActionKey, int] = dict.fromkeys(CHAIN_ACTIONS, 0)
    for answer in [*answers, *["success"] * 10]:
        step = next_step(now)
        assert step == next_step(now), "the same checkpoints give the same step"
        if not isinstance(step, StartAction):
            break
        action = step.start.action
        before = now.checkpoints.get(action)
        starts[action] += 1
        assert before is None or before.status is not SUCCEEDED
        assert step.start.attempts == starts[action] == (0 if before is None else before.attempts) + 1
        assert step.start.attempts <= step.contract.retry.attempts_max
        assert not (effects[action] is UNSAFE and step.start.uncertain)
        now = evolve(now, checkpoints={**now.checkpoints, action: _after(step, answer)})
    _require_an_end(next_step(now))


def _after(step: StartAction, answer: ActionResult | str) -> Checkpoint:
    if answer == "crash":
        return step.start
    result = chain_result(step.start.action) if isinstance(answer, str) else answer
    return judge(step, result, fraction=0.5).checkpoint


def _require_an_end(step: Step) -> None:
    assert isinstance(step, FinishTransition | StopRun)


def checkpoint(
    run: Run,
    action: ActionKey,
    status: CheckpointStatus,
    *,
    effect: Effect = READ,
    attempts: int = 1,
    uncertain: bool = False,
) -> Checkpoint:
    """Return what a run of the chain would have stored."""
    inputs: JsonObject = {"item": "ladder"}
    if action != FIRST:
        inputs["previous"] = _place(action) - 1
    return Checkpoint(
        action=action,
        status=status,
        attempts=attempts,
        external_key=f"{run.execution.id}:{action}",
        input_hash=Sha256Hex(sha256_hex(inputs)),
        effect=effect,
        uncertain=uncertain,
        result={"value": _place(action)} if status is SUCCEEDED else None,
    )


def succeeded(run: Run, action: ActionKey) -> Checkpoint:
    return checkpoint(run, action, SUCCEEDED)


def all_succeeded(run: Run) -> Run:
    return with_checkpoints(run, *(succeeded(run, action) for action in CHAIN_ACTIONS))


def with_checkpoints(run: Run, *checkpoints: Checkpoint) -> Run:
    return evolve(run, checkpoints={one.action: one for one in checkpoints})


def under(run: Run, effect: Effect) -> Run:
    """Return the run with the first action under another effect."""
    return evolve(run, contracts={**run.contracts, FIRST: chain_contract(FIRST, effect)})


def _place(action: ActionKey) -> int:
    return CHAIN_ACTIONS.index(action) + 1
