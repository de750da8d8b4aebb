"""What has happened to the latest requests of a flow, as far as an actor sees them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.identifiers import FlowKey, RequestId
from orchestrator_domain.request.recorded_runs import RecordedRuns


@frozen(kw_only=True)
class RecentRequest:
    """A request, and how often it has changed: it has no more executions than that."""

    id: RequestId
    revision: int


class RecentPast(Protocol):
    """Read what was recorded of requests, outside any story's transaction.

    Promises: nothing is locked or written, and nothing is found but requests that the actor sees, filtered by owner and
    scope where rows are read.
    """

    async def latest(
        self, flow_key: FlowKey, actor: Actor, *, since: datetime | None, revision_max: int, limit: int
    ) -> Sequence[RecentRequest]:
        """Return at most `limit` requests that are pinned to a version of the flow, those with the latest ids first.

        `since` leaves out those that haven't changed since then, `revision_max` those that have changed more often.
        """
        ...

    async def runs(self, request_ids: Sequence[RequestId], actor: Actor) -> Sequence[RecordedRuns]:
        """Return those of the requests that there are, each as of one moment, in the order of their ids.

        Executions are in the order in which they were accepted.
        """
        ...
