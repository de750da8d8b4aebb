"""The protocol with one protection left out at a time, each under its name."""

from attrs import field, frozen
from tests.simulation import broken_parts, broken_queues, broken_resolutions
from tests.simulation.stage import Make


@frozen(kw_only=True)
class Variant:
    """What is left out, how, and what the witness says when it catches it."""

    name: str
    caught_by: tuple[str, ...]
    make: Make = field(factory=Make)
    patches: dict[str, object] = field(factory=dict)
    seeds_max: int = 400

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


_RUN = "orchestrator_domain.usecases.run_execution"
_PROBE = "orchestrator_domain.usecases.run_probe"
_CHECKPOINT = "orchestrator_domain.execution.checkpoint.Checkpoint"
_RECONCILIATION = "orchestrator_domain.execution.reconciliation"
_RESOLVE = "orchestrator_domain.usecases.resolve_execution"
_STEPPING = "orchestrator_domain.execution.stepping"
_VERDICT = "orchestrator_domain.execution.verdict"

VARIANTS: tuple[Variant, ...] = (
    Variant(
        name="fence not compared on checkpoint",
        make=Make(queue=broken_queues.FenceNotComparedOnCheckpoint),
        caught_by=("A stale fence wrote",),
    ),
    Variant(
        name="fence not compared on completion",
        make=Make(queue=broken_queues.FenceNotComparedOnCompletion),
        caught_by=("A stale fence wrote",),
    ),
    Variant(
        name="expired lease may write",
        make=Make(queue=broken_queues.ExpiredLeaseMayWrite),
        caught_by=("A stale fence wrote",),
    ),
    Variant(
        name="renewal revives an expired lease",
        make=Make(queue=broken_queues.RenewalRevivesExpiredLease),
        caught_by=("A stale fence wrote", "A lease that had run out was revived"),
    ),
    Variant(
        name="token not raised by a claim",
        make=Make(queue=broken_queues.TokenNotRaisedByClaim),
        caught_by=("A claim didn't raise the fencing token",),
    ),
    Variant(
        name="claim ignores a running lease",
        make=Make(queue=broken_queues.ClaimIgnoresRunningLease),
        caught_by=("An execution was claimed while its lease ran", "A lease that had run out"),
    ),
    Variant(
        name="retry waits for nothing that comes",
        make=Make(queue=broken_queues.RetryWaitsForNothing),
        caught_by=("Nothing will wake a waiting execution",),
    ),
    Variant(
        name="completion without revision check",
        make=Make(queue=broken_queues.CompletionWithoutRevisionCheck),
        caught_by=("A transition was completed on a request that had moved",),
        seeds_max=3000,
    ),
    Variant(
        name="completion in two transactions",
        make=Make(queue=broken_queues.CompletionInTwoTransactions),
        caught_by=("History, state and revision disagree",),
    ),
    Variant(
        name="succeeded action runs again",
        make=Make(queue=broken_queues.SucceededIsRepeated),
        caught_by=(
            "had SUCCEEDED and was written again",
            "An execution FAILED although something was written",
        ),
    ),
    Variant(
        name="stale checkpoint is upserted",
        make=Make(queue=broken_queues.StaleCheckpointIsUpserted),
        caught_by=(
            "The attempts of",
            "had SUCCEEDED and was written again",
            "The effect of",
            "was over and went on",
            "was called twice",
            "uncertainty",
        ),
        seeds_max=3000,
    ),
    Variant(
        name="acceptance ignores the active execution",
        make=Make(requests=broken_parts.ActiveExecutionIgnored),
        caught_by=("A request has two active executions",),
    ),
    Variant(
        name="repeat of a key creates a second execution",
        make=Make(requests=broken_parts.KeyForgotten),
        caught_by=("One key started two executions", "Two answers to one key"),
    ),
    Variant(
        name="unanswered commit taken for done",
        make=Make(stories=broken_parts.UnansweredCommitTakenForDone),
        caught_by=("An accepted event was lost",),
    ),
    Variant(
        name="start stored after the call",
        make=Make(runner=broken_parts.StartStoredAfterTheCall),
        caught_by=("was called before the start of its attempt was stored",),
    ),
    Variant(
        name="call goes out although its start was not stored",
        make=Make(runner=broken_parts.UnstoredStartIsCalled),
        caught_by=("was called before the start of its attempt was stored",),
    ),
    Variant(
        name="key changes with each attempt",
        make=Make(attempt=broken_parts.key_changes_with_each_attempt),
        caught_by=("isn't the stable one",),
    ),
    Variant(
        name="unknown effect of an unsafe action is tried again",
        patches={
            f"{_STEPPING}.effective_effect": broken_parts.every_write_counts_as_idempotent,
            f"{_VERDICT}.effective_effect": broken_parts.every_write_counts_as_idempotent,
        },
        caught_by=("The effect of pay happened twice", "The effect of send happened twice"),
        seeds_max=1500,
    ),
    Variant(
        name="key trusted for longer than the provider remembers it",
        patches={
            f"{_STEPPING}.effective_effect": broken_parts.keys_are_remembered_for_ever,
            f"{_VERDICT}.effective_effect": broken_parts.keys_are_remembered_for_ever,
        },
        caught_by=("The effect of tell happened twice",),
        seeds_max=3000,
    ),
    Variant(
        name="failure releases a request that was written for",
        patches={f"{_RUN}.may_have_written": broken_parts.nothing_was_written},
        caught_by=("FAILED although something was written", "came after FAILED"),
    ),
    Variant(
        name="refusal forgets an earlier uncertainty",
        patches={f"{_CHECKPOINT}.failed": broken_parts.failed_whatever_came_before},
        caught_by=("The uncertainty about",),
        seeds_max=1500,
    ),
    Variant(
        name="interrupted attempt leaves no doubt",
        patches={f"{_CHECKPOINT}.interrupted": broken_parts.interrupted_without_a_doubt},
        caught_by=("The effect of", "FAILED although", "came after FAILED"),
        seeds_max=1500,
    ),
    Variant(
        name="what a probe doesn't find is taken for absent",
        patches={f"{_PROBE}.judge_probe": broken_parts.not_found_is_believed},
        caught_by=("was over and went on",),
    ),
    Variant(
        name="a probe's silence is taken for a confirmation",
        patches={f"{_PROBE}.judge_probe": broken_parts.silence_is_believed},
        caught_by=("counts as done, and nobody has confirmed it",),
    ),
    Variant(
        name="resolution ignores what the execution is doing",
        patches={f"{_RECONCILIATION}._require_admitted": broken_resolutions.admitted_whatever_it_is_doing},
        caught_by=(
            "What didn't wait for a resolution was resolved",
            "FAILED although something was written",
            "PENDING became FAILED",
            "RETRY_WAIT became FAILED",
        ),
    ),
    Variant(
        name="late resolution is taken for another stop",
        patches={f"{_RECONCILIATION}._require_this_stop": broken_resolutions.of_whichever_stop},
        caught_by=(
            "A resolution of one stop was taken for another",
            "The effect of pay happened twice",
            "The effect of send happened twice",
        ),
        seeds_max=3000,
    ),
    Variant(
        name="resolution resets the fencing token",
        patches={f"{_RECONCILIATION}._resumed": broken_resolutions.resumed_with_a_token_from_the_start},
        caught_by=("A fencing token shrank",),
    ),
    Variant(
        name="absent effect runs again under another key",
        patches={f"{_RECONCILIATION}._afresh": broken_resolutions.afresh_under_another_key},
        caught_by=("was stored as another work than it was",),
    ),
    Variant(
        name="repeated resolution is taken for a new one",
        patches={f"{_RESOLVE}._earlier": broken_resolutions.no_earlier_one},
        caught_by=("A resolution that was made was refused when it was repeated", "was made twice"),
    ),
)
