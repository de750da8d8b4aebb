"""What happens, told to whoever measures or logs it."""
# ruff: noqa: ARG002 - what a fact says is used where its method is overridden

from enum import StrEnum
from typing import Protocol

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId
from orchestrator_domain.request.request import FlowReference


class Command(StrEnum):
    """What can be asked for and refused."""

    CREATE_REQUEST = "create_request"
    SEND_EVENT = "send_event"
    RESOLVE_EXECUTION = "resolve_execution"


class Observer(Protocol):
    """Be told; never in the way.

    Promises to its caller: it returns at once, raises nothing and changes nothing. It is given ids, keys, codes and
    durations in seconds, never data. Commands are told once: a repetition that finds what was done before isn't told.
    Each method does nothing unless it is overridden, so an implementation hears what it cares for, and facts that a later
    version adds break none.
    """

    def request_created(self, *, request_id: RequestId, flow: FlowReference) -> None:
        return

    def event_accepted(
        self, *, request_id: RequestId, execution_id: ExecutionId, flow: FlowReference
    ) -> None:
        return

    def execution_resolved(
        self, *, request_id: RequestId, execution_id: ExecutionId, resolution: str
    ) -> None:
        return

    def command_refused(self, *, command: Command, code: str) -> None:
        return

    def execution_claimed(
        self, *, execution_id: ExecutionId, attempt: int, due_seconds: float | None
    ) -> None:
        """Hear of a claim, and for how long the execution had been due by the store's clock, if the store told."""
        return

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        attempt: int,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None:
        return

    def effect_probed(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None:
        """Hear what a status query about an effect in doubt came to: CONFIRMED, NOT_FOUND or a code."""
        return

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        return

    def lease_lost(self, *, execution_id: ExecutionId) -> None:
        return

    def lease_renewal_failed(self, *, code: str, kind: str, origin: str) -> None:
        """Hear that one renewal of all held leases failed; it is tried again."""
        return

    def worker_disturbed(
        self, *, execution_id: ExecutionId | None, code: str, kind: str, origin: str
    ) -> None:
        """Hear of an exception that nobody expected: its code, its type, and where it was raised, without its text."""
        return


class Unobserved(Observer):
    """Nobody listens."""
