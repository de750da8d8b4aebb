"""What a witness has seen of resolutions: each belongs to one stop, and no stop ends without one."""

from collections.abc import Iterable

from attrs import define, field, frozen
from tests.simulation.promises import require

from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.identifiers import ExecutionId, FencingToken, Sha256Hex
from orchestrator_domain.ports.reconciliation_store import ResolutionRecord


@frozen(kw_only=True)
class ResolutionSeen:
    """A resolution that the history tells of; `stop` is the token of the stop that it ended."""

    id: JsonValue
    stop: FencingToken


@define(eq=False)
class ResolutionsSeen:
    """The resolutions that the history tells of, by what they say, and the executions that they closed."""

    made: dict[Sha256Hex, ResolutionSeen] = field(factory=dict)
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

    def look_at(self, entry: AuditEntry, execution_id: ExecutionId, stop: FencingToken) -> None:
        require(execution_id in self._unexplained, "What didn't wait for a resolution was resolved.")
        self._unexplained.remove(execution_id)
        assert entry.detail is not None, "nothing is erased here"
        payload = Sha256Hex(str(entry.detail["payloadHash"]))
        require(payload not in self.made, "One resolution was made twice.")
        require(entry.detail["stop"] == stop, "The history names another stop than the one that ended.")
        self.made[payload] = ResolutionSeen(id=entry.detail["resolutionId"], stop=stop)

    def end(self) -> None:
        require(not self._unexplained, "An execution left its stop without a resolution.")

    def acknowledge(self, record: ResolutionRecord, named: FencingToken | None) -> None:
        """Hear that an operator, who may have named a stop, was told that a resolution is made."""
        made = self.made.get(record.payload_hash)
        require(made is not None, "A resolution that was answered was lost.")
        assert made is not None
        require(made.id == str(record.id), "Two answers to one command named different resolutions.")
        require(named in (None, made.stop), "A resolution of one stop was taken for another.")
