"""The name under which an attempt's outcome is measured and logged."""

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


def outcome_of(result: ActionResult) -> str:
    """Return SUCCEEDED, or the stable error code."""
    match result:
        case Succeeded():
            return "SUCCEEDED"
        case (
            ProvenUnsent()
            | Parked()
            | NoWholeAnswer()
            | Transient()
            | Refused()
            | UnclearRefusal()
            | ContractViolated()
            | Unavailable()
        ):
            return result.error_code
