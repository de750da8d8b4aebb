"""One request: its business state and data, and the flow version that it was born with."""

from datetime import datetime

from attrs import evolve, frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import (
    BusinessScope,
    FlowId,
    FlowKey,
    RequestId,
    RequestTypeKey,
    Revision,
    Sha256Hex,
    StateKey,
    Subject,
)


@frozen(kw_only=True)
class FlowReference:
    """The immutable flow version that a request is pinned to."""

    id: FlowId
    key: FlowKey
    version: int
    checksum: Sha256Hex


@frozen(kw_only=True)
class Request:
    """One row of request_instance. Times are the store's; None before the first save.

    `data_erased_at` is when retention has emptied `data`, None unless it has; nothing happens to the request after that.
    """

    id: RequestId
    type_key: RequestTypeKey
    flow: FlowReference
    state: StateKey
    data: JsonObject
    owner: Subject
    scope: BusinessScope
    revision: Revision = Revision(0)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    data_erased_at: datetime | None = None

    def accepted(self) -> "Request":
        """Return the request as it is once an event has been accepted: only its revision moves."""
        return evolve(self, revision=Revision(self.revision + 1))

    def transitioned(self, *, state: StateKey, data: JsonObject) -> "Request":
        return evolve(self, state=state, data=data, revision=Revision(self.revision + 1))

    def released(self) -> "Request":
        """Return the request after a failure: state and data as before, visible as a change all the same."""
        return evolve(self, revision=Revision(self.revision + 1))
