"""Change marks, read outside any session."""

from collections.abc import Collection, Mapping
from uuid import UUID

from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.change_marks import ChangeMarks
from orchestrator_domain.testing.in_memory.store import InMemoryStore


class InMemoryChangeMarks(ChangeMarks):
    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    async def marks(
        self, requests: Collection[RequestId], executions: Collection[ExecutionId]
    ) -> Mapping[UUID, str]:
        rows, runs = self._store.requests.rows, self._store.executions.rows
        found: dict[UUID, str] = {each: str(rows[each].request.revision) for each in requests if each in rows}
        running = {each: runs[each].execution for each in executions if each in runs}
        return {
            **found,
            **{each: f"{run.status} {run.error_code} {run.updated_at}" for each, run in running.items()},
        }
