"""What has happened to the latest requests of a flow."""

from collections.abc import Sequence
from datetime import datetime

from orchestrator_domain.actor import Actor
from orchestrator_domain.identifiers import FlowKey, RequestId
from orchestrator_domain.ports.recent_past import RecentPast, RecentRequest
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.testing.in_memory.rows import RequestRow
from orchestrator_domain.testing.in_memory.store import InMemoryStore


class InMemoryRecentPast(RecentPast):
    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    async def latest(
        self, flow_key: FlowKey, actor: Actor, *, since: datetime | None, revision_max: int, limit: int
    ) -> Sequence[RecentRequest]:
        found = [
            RecentRequest(id=row.request.id, revision=row.request.revision)
            for row in self._store.requests.rows.values()
            if row.request.flow.key == flow_key
            and _is_visible(row, actor)
            and row.request.revision <= revision_max
            and (since is None or (row.request.updated_at is not None and row.request.updated_at >= since))
        ]
        return sorted(found, key=lambda each: each.id, reverse=True)[:limit]

    async def runs(self, request_ids: Sequence[RequestId], actor: Actor) -> Sequence[RecordedRuns]:
        rows = [self._store.requests.rows.get(request_id) for request_id in sorted(request_ids)]
        return [self._recorded(row) for row in rows if row is not None and _is_visible(row, actor)]

    def _recorded(self, row: RequestRow) -> RecordedRuns:
        store = self._store
        executions = [
            each.execution
            for each in store.executions.rows.values()
            if each.execution.request_id == row.request.id
        ]
        return RecordedRuns(
            request=row.request,
            initial_data=row.initial_data,
            executions=tuple(sorted(executions, key=lambda each: each.accepted_revision)),
            checkpoints={
                each.id: tuple(
                    checkpoint.checkpoint
                    for _, checkpoint in sorted(store.checkpoints.rows.get(each.id, {}).items())
                )
                for each in executions
            },
        )


def _is_visible(row: RequestRow, actor: Actor) -> bool:
    return actor.may_see(owner=row.request.owner, scope=row.request.scope)
