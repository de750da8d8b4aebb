"""Every way a use case can refuse or fail: one tree, each leaf with a stable code.

Messages are one clear sentence and never hold a value that a caller or a provider sent, so that they may be logged.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from orchestrator_domain.flow.findings import Finding
    from orchestrator_domain.identifiers import ExecutionId, Revision


class OrchestratorError(Exception):
    """Be the root of all errors that this library raises on purpose.

    `pointer` is the JSON Pointer of the place at fault inside the document that was handed in, if there is one.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(self, message: str, *, pointer: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


# Input that can't be taken as it is.


class InvalidInput(OrchestratorError):
    """The input breaks a schema or a rule; `violations` lists each place (pointer and sentence)."""

    code = "SCHEMA_VIOLATION"

    def __init__(
        self, message: str, *, pointer: str | None = None, violations: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message, pointer=pointer)
        self.violations = tuple(violations)


class DataTooLarge(OrchestratorError):
    """The request's data would exceed its size limit in canonical bytes."""

    code = "DATA_TOO_LARGE"


class UnknownRequestType(OrchestratorError):
    code = "UNKNOWN_REQUEST_TYPE"


class GuardNotSatisfied(OrchestratorError):
    """The guard of the transition is false for the current data; nothing was accepted."""

    code = "GUARD_NOT_SATISFIED"


class EvaluationError(OrchestratorError):
    """A condition or mapping met an absent path or kinds that don't fit; never says the value."""

    code = "EVALUATION_ERROR"

    def __init__(self, message: str, *, pointer: str | None = None, rule: str | None = None) -> None:
        super().__init__(message, pointer=pointer)
        self.rule = rule


class FlowInvalid(OrchestratorError):
    """The definition has findings of severity error; all of them are in `findings`."""

    code = "FLOW_INVALID"

    def __init__(self, message: str, *, findings: "Sequence[Finding]") -> None:
        super().__init__(message)
        self.findings = tuple(findings)


# Access.


class NotFound(OrchestratorError):
    """The resource doesn't exist or isn't visible to the actor, which are told apart nowhere."""

    code = "NOT_FOUND"


class AccessDenied(OrchestratorError):
    code = "ACCESS_DENIED"


class ScopeRequired(OrchestratorError):
    """The actor holds several business scopes (or none) and the command doesn't name a usable one."""

    code = "BUSINESS_SCOPE_REQUIRED"


# Conflicts with the present state.


class RequestBusy(OrchestratorError):
    code = "REQUEST_BUSY"

    def __init__(self, message: str, *, active_execution: "ExecutionId") -> None:
        super().__init__(message)
        self.active_execution = active_execution


class RequestErased(OrchestratorError):
    """The request's data has been erased, so that nothing can be decided on it any more."""

    code = "REQUEST_ERASED"


class InvalidEvent(OrchestratorError):
    """No transition leaves the current state with this event."""

    code = "INVALID_EVENT"


class IdempotencyConflict(OrchestratorError):
    """The key was used before for another command."""

    code = "IDEMPOTENCY_CONFLICT"


class RevisionMismatch(OrchestratorError):
    """The precondition doesn't hold; `current` is the revision that does."""

    code = "REVISION_MISMATCH"

    def __init__(self, message: str, *, current: "Revision | None") -> None:
        super().__init__(message)
        self.current = current


class PreconditionRequired(OrchestratorError):
    code = "PRECONDITION_REQUIRED"


class RequestTypeDisabled(OrchestratorError):
    code = "REQUEST_TYPE_DISABLED"


class RequestTypeWithoutFlow(OrchestratorError):
    code = "REQUEST_TYPE_WITHOUT_FLOW"


class FlowRetired(OrchestratorError):
    code = "FLOW_RETIRED"


class FlowNotDraft(OrchestratorError):
    code = "FLOW_NOT_DRAFT"


class FlowNotPublished(OrchestratorError):
    code = "FLOW_NOT_PUBLISHED"


class DuplicateFlowVersion(OrchestratorError):
    code = "DUPLICATE_FLOW_VERSION"


class ExecutionNotResolvable(OrchestratorError):
    code = "EXECUTION_NOT_RESOLVABLE"


# The infrastructure.


class StorageUnavailable(OrchestratorError):
    """The store didn't answer or kept refusing; the command may be repeated with the same key."""

    code = "STORAGE_UNAVAILABLE"


class FlowUnreadable(OrchestratorError):
    """The stored flow version of a request is missing, or this release can't read it; another one may."""

    code = "FLOW_UNREADABLE"


# Promises of the durable protocol; these never reach a client.


class LeaseLost(OrchestratorError):
    """The fence doesn't hold any more; the run must stop and write nothing more."""

    code = "LEASE_LOST"


class CheckpointMoved(OrchestratorError):
    """The checkpoint isn't in the status and attempt that the write was computed from."""

    code = "CHECKPOINT_MOVED"


class RequestMoved(OrchestratorError):
    """The request isn't as it was accepted (state, revision or flow), so the transition can't be written."""

    code = "REQUEST_MOVED"
