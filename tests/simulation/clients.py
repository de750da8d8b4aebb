"""Clients that send events, hear nothing, and send them again under the same key."""

from attrs import frozen
from tests.simulation.chances import Chances
from tests.simulation.promises import require
from tests.simulation.stepping import Pause, ProcessEnded, pause
from tests.simulation.witness import Witness

from orchestrator_domain.errors import (
    IdempotencyConflict,
    InvalidEvent,
    RequestBusy,
    RevisionMismatch,
    StorageUnavailable,
)
from orchestrator_domain.identifiers import EventKey, IdempotencyKey, RequestId, Revision
from orchestrator_domain.request.acceptance import (
    AcceptEventCommand,
    AnyRevision,
    Precondition,
    RevisionIn,
    command_hash,
)
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.usecases.accept_event import AcceptEvent

_COMMANDS = 3
_REPEATS_MAX = 12


@frozen(kw_only=True)
class SimulatedClient:
    """Send a few events to one request; clients of one request share some of their keys."""

    number: int
    request_id: RequestId
    accept: AcceptEvent
    witness: Witness
    chances: Chances

    async def send_events(self) -> None:
        for _ in range(_COMMANDS):
            await pause(Pause("before it sends an event", in_process=False))
            await self._send_until_answered(self._command())

    def _command(self) -> AcceptEventCommand:
        return AcceptEventCommand(
            request_id=self.request_id,
            event=EventKey("GO"),
            data={"by": self.number} if self.chances.happens(0.1) else {},
            key=IdempotencyKey(f"key-{self.chances.one_of((1, 2, 3, 4))}"),
            precondition=self._precondition(),
        )

    def _precondition(self) -> Precondition:
        if self.chances.happens(0.7):
            return AnyRevision()
        seen = self.witness.rows.requests[self.request_id].request.revision
        return RevisionIn(tags=(str(seen), str(Revision(seen + 1))))

    async def _send_until_answered(self, command: AcceptEventCommand) -> None:
        for _ in range(_REPEATS_MAX):
            try:
                accepted = await self.accept(command, CLERK)
            except (StorageUnavailable, ProcessEnded):
                continue
            except (RequestBusy, RevisionMismatch, InvalidEvent, IdempotencyConflict):
                return
            require(
                accepted.execution.payload_hash == command_hash(command),
                "A key was answered for another command.",
            )
            self.witness.acknowledge(accepted.execution)
            if self.chances.happens(0.6):
                return
