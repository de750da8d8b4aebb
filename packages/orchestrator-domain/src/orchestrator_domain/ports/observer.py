"""What happens, told to whoever measures or logs it."""

from typing import Protocol

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId


class Observer(Protocol):
    """Be told; never in the way.

    Promises to its caller: it returns at once, raises nothing and changes nothing. It is given ids, keys, codes and
    durations in seconds, never data.
    """

    def command_accepted(self, *, request_id: RequestId, execution_id: ExecutionId) -> None: ...

    def command_refused(self, *, code: str) -> None: ...

    def execution_claimed(self, *, execution_id: ExecutionId, attempt: int) -> None: ...

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None: ...

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None: ...

    def lease_lost(self, *, execution_id: ExecutionId) -> None: ...

    def worker_disturbed(
        self, *, execution_id: ExecutionId | None, code: str, kind: str, origin: str
    ) -> None:
        """Hear of an exception that nobody expected: its code, its type, and where it was raised, without its text."""
        ...
