"""The durable evidence of one action: what was asked, under which key, and what is known of it."""

from datetime import datetime
from enum import StrEnum

from attrs import evolve, frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import ActionKey, ExecutionId, Sha256Hex


class CheckpointStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"


@frozen(kw_only=True)
class Checkpoint:
    """One row of action_execution.

    `uncertain` says that some attempt so far may have had an effect that no answer has settled; it is cleared only by
    a success or by an operator. `first_attempt_age_seconds` and `ended_age_seconds` (how long it has been SUCCEEDED, FAILED
    or UNKNOWN) are measured by the store's clock when it was read.
    """

    action: ActionKey
    status: CheckpointStatus
    attempts: int
    external_key: str
    input_hash: Sha256Hex
    effect: Effect
    uncertain: bool = False
    result: JsonObject | None = None
    provider_reference: str | None = None
    error_code: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    first_attempt_age_seconds: float = 0.0
    ended_age_seconds: float = 0.0

    def interrupted(self) -> "Checkpoint":
        """Return what is known after the run of an attempt has died: a write may have happened."""
        return evolve(
            self,
            status=CheckpointStatus.PENDING,
            uncertain=self.uncertain or self.effect is not Effect.READ_ONLY,
        )

    def started_again(self) -> "Checkpoint":
        return evolve(self, status=CheckpointStatus.RUNNING, attempts=self.attempts + 1)

    def succeeded(self, result: JsonObject, provider_reference: str | None) -> "Checkpoint":
        return evolve(
            self,
            status=CheckpointStatus.SUCCEEDED,
            uncertain=False,
            result=result,
            provider_reference=provider_reference,
            error_code=None,
        )

    def to_be_retried(self, error_code: str, *, uncertain: bool) -> "Checkpoint":
        """Return the checkpoint between two attempts; uncertainty, once there, stays."""
        return evolve(
            self,
            status=CheckpointStatus.PENDING,
            uncertain=self.uncertain or uncertain,
            error_code=error_code,
        )

    def parked(self, error_code: str) -> "Checkpoint":
        """Return the checkpoint as it was before an attempt that was not made; what was known before stays known."""
        return evolve(
            self,
            status=CheckpointStatus.PENDING,
            attempts=self.attempts - 1,
            error_code=error_code,
        )

    def failed(self, error_code: str | None = None) -> "Checkpoint":
        """Return the end of an action: FAILED if nothing can have happened, else UNKNOWN."""
        if self.uncertain and self.effect is not Effect.READ_ONLY:
            return self.unknown(error_code)
        return evolve(self, status=CheckpointStatus.FAILED, error_code=error_code or self.error_code)

    def unknown(self, error_code: str | None = None) -> "Checkpoint":
        return evolve(
            self,
            status=CheckpointStatus.UNKNOWN,
            uncertain=True,
            error_code=error_code or self.error_code,
        )


def external_key(execution: ExecutionId, action: ActionKey) -> str:
    """Return the idempotency key that every attempt of this action sends (specification, section 8.2)."""
    return f"{execution}:{action}"
