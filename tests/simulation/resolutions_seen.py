"""What a witness has seen of resolutions: each belongs to one stop, and no stop ends without one."""

from collections.abc import Iterable

from attrs import define, field
from tests.simulation.promises import require

from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.identifiers import ExecutionId, Sha256Hex
from orchestrator_domain.ports.reconciliation_store import ResolutionRecord


@define(eq=False)
class ResolutionsSeen:
    """The resolutions that the history tells of, by what they say, and the executions that they closed."""

    made: dict[Sha256Hex, JsonValue] = field(factory=dict)
    closed: set[ExecutionId] = field(factory=set)
    _unexplained: set[ExecutionId] = field(factory=set)

    def begin(self, no_longer_stopped: Iterable[ExecutionId]) -> None:
        """Begin to look at a step, after which these executions are no longer stopped."""
        self._unexplained = set(no_longer_stopped)

    def ends_the_stop_of(self, execution_id: ExecutionId) -> bool:
        return execution_id in self._unexplained

    def closes(self, entry: AuditEntry) -> bool:
        """Say whether an entry of the history tells of a closing, which bumps the revision."""
        return entry.kind is AuditKind.RECONCILIATION_RESOLVED and entry.execution_id in self.closed

    def look_at(self, entry: AuditEntry, execution_id: ExecutionId) -> None:
        require(execution_id in self._unexplained, "What didn't wait for a resolution was resolved.")
        self._unexplained.remove(execution_id)
        assert entry.detail is not None, "nothing is erased here"
        payload = Sha256Hex(str(entry.detail["payloadHash"]))
        require(payload not in self.made, "One resolution was made twice.")
        self.made[payload] = entry.detail["resolutionId"]

    def end(self) -> None:
        require(not self._unexplained, "An execution left its stop without a resolution.")

    def acknowledge(self, record: ResolutionRecord) -> None:
        """Hear that an operator was told that a resolution is made."""
        made = self.made.get(record.payload_hash)
        require(made is not None, "A resolution that was answered was lost.")
        require(made == str(record.id), "Two answers to one command named different resolutions.")
