"""What each stop admits, and what each resolution makes of it."""

from collections.abc import Mapping

import pytest
from attrs import evolve

from orchestrator_domain.errors import ExecutionNotResolvable, InvalidInput
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import (
    EVIDENCE_REFERENCE_CHARACTERS_MAX,
    EVIDENCE_TEXT_CHARACTERS_MAX,
    CloseWithoutTransition,
    Evidence,
    ResolutionKind,
    ResolveCommand,
    Resolved,
    ResumeEffectAbsent,
    ResumeWithResult,
    Stop,
    Way,
    decide_resolution,
    find_stop,
    resolution_hash,
)
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import ActionKey, FencingToken, IdempotencyKey
from orchestrator_domain.testing.chain import chain_contract
from orchestrator_domain.testing.examples import (
    checkpoint_of,
    draft_flow,
    execution_of,
    published,
    request_of,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

FIRST, SECOND = ActionKey("first"), ActionKey("second")
ACTIONS = (FIRST, SECOND)
EVIDENCE = Evidence(text="Seen in the ledger of the provider.", reference="CASE-7")
EVERY_WAY = tuple(ResolutionKind)
ONLY_CLOSING = (ResolutionKind.CLOSE_WITHOUT_TRANSITION,)
NO_RESULT = (ResolutionKind.RESUME_EFFECT_ABSENT, ResolutionKind.CLOSE_WITHOUT_TRANSITION)
WRITE = Effect.NON_IDEMPOTENT_WRITE


def stopped(code: str = "EFFECT_UNKNOWN") -> Execution:
    identifiers = SequentialIdentifiers()
    flow: StoredFlow = published(draft_flow(identifiers))
    execution = execution_of(request_of(flow, identifiers).accepted(), identifiers)
    return evolve(
        execution,
        status=ExecutionStatus.RECONCILIATION_REQUIRED,
        error_code=code,
        fencing_token=FencingToken(4),
        attempts=3,
    )


def tried(action: ActionKey, status: CheckpointStatus, effect: Effect = WRITE) -> Checkpoint:
    result: JsonObject | None = {"value": 1} if status is CheckpointStatus.SUCCEEDED else None
    known = checkpoint_of(
        stopped().id, action=action, status=status, attempts=3, effect=effect, result=result
    )
    return evolve(
        known,
        uncertain=status is CheckpointStatus.UNKNOWN,
        error_code="PROVIDER_TIMEOUT",
        provider_reference="ref",
    )


def stop_of(
    *checkpoints: Checkpoint,
    code: str = "EFFECT_UNKNOWN",
    as_accepted: bool = True,
    actions: tuple[ActionKey, ...] = ACTIONS,
) -> Stop:
    by_action: Mapping[ActionKey, Checkpoint] = {one.action: one for one in checkpoints}
    return find_stop(stopped(code), actions, by_action, as_accepted=as_accepted)


DONE = tried(FIRST, CheckpointStatus.SUCCEEDED)
UNKNOWN = tried(SECOND, CheckpointStatus.UNKNOWN)


@pytest.mark.parametrize(
    ("checkpoints", "code", "action", "admits"),
    [
        ([DONE, UNKNOWN], "EFFECT_UNKNOWN", SECOND, EVERY_WAY),
        ([tried(FIRST, CheckpointStatus.UNKNOWN)], "PROVIDER_TIMEOUT", FIRST, EVERY_WAY),
        ([DONE, tried(SECOND, CheckpointStatus.RUNNING)], "CLAIMS_EXHAUSTED", SECOND, EVERY_WAY),
        ([DONE, tried(SECOND, CheckpointStatus.FAILED)], "PROVIDER_REJECTED", SECOND, EVERY_WAY),
        (
            [DONE, tried(SECOND, CheckpointStatus.FAILED, Effect.READ_ONLY)],
            "PROVIDER_TIMEOUT",
            SECOND,
            NO_RESULT,
        ),
        ([DONE], "INTEGRATION_UNAVAILABLE", SECOND, NO_RESULT),
        ([DONE], "INPUT_CONTRACT_VIOLATION", SECOND, ONLY_CLOSING),
        ([DONE], "EVALUATION_ERROR", SECOND, ONLY_CLOSING),
        (
            [DONE, tried(SECOND, CheckpointStatus.SUCCEEDED)],
            "AMBIGUOUS_DECISION",
            None,
            ONLY_CLOSING,
        ),
        ([DONE, UNKNOWN], "CHECKPOINT_MISMATCH", None, ONLY_CLOSING),
        ([DONE, UNKNOWN], "REQUEST_MOVED", SECOND, ONLY_CLOSING),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_a_stop_names_the_first_action_without_a_result_and_what_it_admits(
    checkpoints: list[Checkpoint],
    code: str,
    action: ActionKey | None,
    admits: tuple[ResolutionKind, ...],
) -> None:
    stop = stop_of(*checkpoints, code=code)
    assert (stop.action, stop.admits, stop.token) == (action, admits, stopped().fencing_token)
    assert stop.checkpoint == next((one for one in checkpoints if one.action == action), None)


def test_a_request_that_moved_since_admits_only_closing() -> None:
    assert stop_of(DONE, UNKNOWN, as_accepted=False).admits == ONLY_CLOSING


def test_an_execution_whose_flow_can_not_be_read_admits_only_closing() -> None:
    stop = stop_of(DONE, UNKNOWN, actions=())
    assert (stop.action, stop.checkpoint, stop.admits) == (None, None, ONLY_CLOSING)


def resolve(
    way: Way,
    *,
    stop: Stop | None = None,
    execution: Execution | None = None,
    action: ActionKey | None = SECOND,
    evidence: Evidence = EVIDENCE,
    token: FencingToken | None = None,
) -> Resolved:
    command = evolve(command_of(way, action=action, evidence=evidence), stop=token)
    return decide_resolution(
        command, execution or stopped(), stop or stop_of(DONE, UNKNOWN), chain_contract(SECOND, WRITE)
    )


def command_of(
    way: Way, *, action: ActionKey | None = SECOND, evidence: Evidence = EVIDENCE
) -> ResolveCommand:
    return ResolveCommand(
        execution_id=stopped().id,
        action=action,
        way=way,
        evidence=evidence,
        key=IdempotencyKey("resolve-1"),
    )


def test_a_confirmed_effect_becomes_the_checkpoint_and_the_run_goes_on() -> None:
    resolved = resolve(ResumeWithResult(result={"value": 7}))
    assert resolved.execution == evolve(stopped(), status=ExecutionStatus.PENDING, error_code=None)
    assert resolved.checkpoint == evolve(
        UNKNOWN,
        status=CheckpointStatus.SUCCEEDED,
        uncertain=False,
        result={"value": 7},
        error_code=None,
    )


def test_an_absent_effect_lets_the_action_run_again_with_its_key_and_a_fresh_budget() -> None:
    resolved = resolve(ResumeEffectAbsent())
    assert resolved.execution == evolve(stopped(), status=ExecutionStatus.PENDING, error_code=None)
    again = resolved.checkpoint
    assert again is not None
    assert (again.status, again.attempts, again.uncertain) == (CheckpointStatus.PENDING, 0, False)
    assert (again.external_key, again.input_hash, again.effect) == (
        UNKNOWN.external_key,
        UNKNOWN.input_hash,
        UNKNOWN.effect,
    )


def test_an_action_that_was_never_tried_needs_no_checkpoint_to_run() -> None:
    resolved = resolve(ResumeEffectAbsent(), stop=stop_of(DONE, code="INTEGRATION_UNAVAILABLE"))
    assert resolved.checkpoint is None


def test_closing_fails_the_execution_and_keeps_what_was_known() -> None:
    resolved = resolve(CloseWithoutTransition())
    assert resolved == Resolved(
        execution=evolve(stopped(), status=ExecutionStatus.FAILED, error_code="CLOSED_WITHOUT_TRANSITION")
    )


@pytest.mark.parametrize(
    "way", [ResumeWithResult(result={"value": 7}), ResumeEffectAbsent(), CloseWithoutTransition()]
)
@pytest.mark.parametrize(
    "status", [one for one in ExecutionStatus if one != ExecutionStatus.RECONCILIATION_REQUIRED]
)
def test_no_other_status_can_be_resolved(way: Way, status: ExecutionStatus) -> None:
    with pytest.raises(ExecutionNotResolvable):
        resolve(way, execution=evolve(stopped(), status=status))


@pytest.mark.parametrize("action", [FIRST, None, ActionKey("third")])
def test_a_resolution_of_another_action_is_refused(action: ActionKey | None) -> None:
    with pytest.raises(ExecutionNotResolvable) as refusal:
        resolve(CloseWithoutTransition(), action=action)
    assert refusal.value.pointer == "/actionId"


@pytest.mark.parametrize(
    "way", [ResumeWithResult(result={"value": 7}), ResumeEffectAbsent(), CloseWithoutTransition()]
)
def test_a_resolution_of_another_stop_is_refused_and_one_of_this_stop_is_taken(way: Way) -> None:
    for other in (3, 5):
        with pytest.raises(ExecutionNotResolvable) as refusal:
            resolve(way, token=FencingToken(other))
        assert refusal.value.pointer == "/stop"
    assert resolve(way, token=stopped().fencing_token) == resolve(way)


def test_what_does_not_wait_has_no_stop_that_could_be_named() -> None:
    for status in ExecutionStatus:
        stop = find_stop(evolve(stopped(), status=status), ACTIONS, {}, as_accepted=True)
        assert (stop.token is not None) is (status is ExecutionStatus.RECONCILIATION_REQUIRED)


@pytest.mark.parametrize("way", [ResumeWithResult(result={"value": 7}), ResumeEffectAbsent()])
def test_a_failed_decision_admits_no_way_on(way: Way) -> None:
    stop = stop_of(DONE, tried(SECOND, CheckpointStatus.SUCCEEDED), code="AMBIGUOUS_DECISION")
    with pytest.raises(ExecutionNotResolvable) as refusal:
        resolve(way, stop=stop, action=None)
    assert refusal.value.pointer == "/resolution"


@pytest.mark.parametrize("result", [{}, {"value": "seven"}, {"value": 7.5}, {"value": "\x00"}])
def test_a_result_is_held_to_the_output_schema(result: JsonObject) -> None:
    with pytest.raises(InvalidInput) as refusal:
        resolve(ResumeWithResult(result=result))
    assert all(pointer.startswith("/result") for pointer, _ in refusal.value.violations)
    assert refusal.value.violations


def test_a_result_can_not_be_taken_without_the_contract() -> None:
    command = command_of(ResumeWithResult(result={"value": 7}))
    with pytest.raises(ExecutionNotResolvable):
        decide_resolution(command, stopped(), stop_of(DONE, UNKNOWN), None)


@pytest.mark.parametrize(
    ("evidence", "pointer"),
    [
        (evolve(EVIDENCE, text=""), "/evidence/text"),
        (evolve(EVIDENCE, text=" \n"), "/evidence/text"),
        (evolve(EVIDENCE, text="x" * (EVIDENCE_TEXT_CHARACTERS_MAX + 1)), "/evidence/text"),
        (evolve(EVIDENCE, reference=""), "/evidence/reference"),
        (
            evolve(EVIDENCE, reference="x" * (EVIDENCE_REFERENCE_CHARACTERS_MAX + 1)),
            "/evidence/reference",
        ),
    ],
)
def test_evidence_is_needed_and_bounded(evidence: Evidence, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        resolve(CloseWithoutTransition(), evidence=evidence)
    assert refusal.value.pointer == pointer


def test_evidence_of_the_greatest_length_is_taken() -> None:
    longest = Evidence(
        text="x" * EVIDENCE_TEXT_CHARACTERS_MAX, reference="y" * EVIDENCE_REFERENCE_CHARACTERS_MAX
    )
    assert resolve(CloseWithoutTransition(), evidence=longest).execution.status is ExecutionStatus.FAILED


def test_commands_that_differ_anywhere_have_different_hashes() -> None:
    commands = [
        command_of(ResumeEffectAbsent()),
        command_of(ResumeEffectAbsent(), action=FIRST),
        command_of(ResumeEffectAbsent(), action=None),
        command_of(CloseWithoutTransition()),
        command_of(ResumeWithResult(result={"value": 7})),
        command_of(ResumeWithResult(result={"value": 8})),
        command_of(ResumeEffectAbsent(), evidence=evolve(EVIDENCE, text="Other words.")),
        command_of(ResumeEffectAbsent(), evidence=evolve(EVIDENCE, reference="CASE-8")),
        evolve(command_of(ResumeEffectAbsent()), stop=FencingToken(4)),
        evolve(command_of(ResumeEffectAbsent()), stop=FencingToken(5)),
    ]
    assert len({resolution_hash(command) for command in commands}) == len(commands)
    assert resolution_hash(commands[0]) == resolution_hash(evolve(commands[0], key=IdempotencyKey("other")))
