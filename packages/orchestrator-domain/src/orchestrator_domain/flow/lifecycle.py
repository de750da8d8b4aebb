"""A stored flow version: DRAFT → PUBLISHED → RETIRED, and the contracts that its publication pinned."""

from datetime import datetime
from enum import StrEnum

from attrs import evolve, frozen

from orchestrator_domain.errors import FlowNotDraft, FlowNotPublished
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import (
    ActionKey,
    FlowId,
    FlowKey,
    RequestTypeKey,
    Revision,
    Sha256Hex,
    Subject,
    TransitionKey,
)


class FlowStatus(StrEnum):
    DRAFT = "DRAFT"
    PUBLISHED = "PUBLISHED"
    RETIRED = "RETIRED"


@frozen(kw_only=True)
class PinnedContract:
    """The contract that one action of a published flow is held to, whatever the catalogue offers later.

    `checksum` is the SHA-256 of the contract's semantic part; another one under the same version is refused.
    """

    transition: TransitionKey
    action: ActionKey
    action_type: str
    integration_key: str | None
    contract_version: int
    profile: str | None
    profile_version: int | None
    checksum: Sha256Hex


@frozen(kw_only=True)
class FlowSummary:
    """A stored version without its definition, which may be large."""

    id: FlowId
    flow_key: FlowKey
    version: int
    status: FlowStatus
    schema_version: int
    checksum: Sha256Hex | None
    revision: Revision
    created_by: Subject
    created_at: datetime | None
    published_at: datetime | None


@frozen(kw_only=True)
class StoredFlow:
    """One row of flow_definition."""

    id: FlowId
    flow_key: FlowKey
    version: int
    status: FlowStatus
    schema_version: int
    document: JsonObject
    checksum: Sha256Hex | None = None
    contracts: tuple[PinnedContract, ...] = ()
    revision: Revision
    created_by: Subject
    created_at: datetime | None = None
    published_at: datetime | None = None

    @property
    def summary(self) -> FlowSummary:
        return FlowSummary(
            id=self.id,
            flow_key=self.flow_key,
            version=self.version,
            status=self.status,
            schema_version=self.schema_version,
            checksum=self.checksum,
            revision=self.revision,
            created_by=self.created_by,
            created_at=self.created_at,
            published_at=self.published_at,
        )

    def edited(self, document: JsonObject) -> "StoredFlow":
        """Return the draft with another document; raise FlowNotDraft once it has been published."""
        self.require_draft()
        return evolve(self, document=document, revision=Revision(self.revision + 1))

    def published(self, *, checksum: Sha256Hex, contracts: tuple[PinnedContract, ...]) -> "StoredFlow":
        """Return the immutable version; raise FlowNotDraft if it isn't a draft. The store sets `published_at`."""
        self.require_draft()
        return evolve(
            self,
            status=FlowStatus.PUBLISHED,
            checksum=checksum,
            contracts=contracts,
            revision=Revision(self.revision + 1),
        )

    def retired(self) -> "StoredFlow":
        """Return the version closed to new requests; raise FlowNotPublished unless it is published."""
        if self.status is not FlowStatus.PUBLISHED:
            raise FlowNotPublished("Only a published flow version can be retired.")
        return evolve(self, status=FlowStatus.RETIRED, revision=Revision(self.revision + 1))

    def require_draft(self) -> None:
        """Raise FlowNotDraft once the version has been published."""
        if self.status is not FlowStatus.DRAFT:
            raise FlowNotDraft("This flow version is not a draft any more; create a new version instead.")


@frozen(kw_only=True)
class RequestType:
    """Which flow version new requests of a type get."""

    key: RequestTypeKey
    active_flow: FlowId | None
    enabled: bool
    revision: Revision

    def activated(self, flow: FlowId) -> "RequestType":
        return evolve(self, active_flow=flow, revision=Revision(self.revision + 1))

    def switched(self, *, enabled: bool) -> "RequestType":
        return evolve(self, enabled=enabled, revision=Revision(self.revision + 1))
