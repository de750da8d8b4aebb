"""Write, validate, publish and retire flow versions."""

from functools import partial
from typing import Final

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowInvalid, NotFound, RevisionMismatch
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.findings import Finding, ValidationReport
from orchestrator_domain.flow.lifecycle import FlowStatus, FlowSummary, StoredFlow
from orchestrator_domain.flow.soundness import pin_contracts
from orchestrator_domain.identifiers import CorrelationId, FlowId, Revision
from orchestrator_domain.ports.flow_definition_validator import FlowDefinitionValidator
from orchestrator_domain.ports.flow_store import EVERY_FLOW, LISTED_MAX, FlowFilter, FlowPosition
from orchestrator_domain.ports.heavy_work import RunHeavy, run_inline
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import Precondition, revision_matches
from orchestrator_domain.usecases.flow_facts import checksum_of, flow_fact
from orchestrator_domain.usecases.page import Page, page_of
from orchestrator_domain.usecases.permissions import (
    FLOW_ADMIN,
    FLOW_EDITOR,
    FLOW_PUBLISHER,
    FLOW_READERS,
    require_any,
)

_EXAMINATIONS_MAX: Final = 5


@frozen(kw_only=True)
class AuthorFlow:
    """Take a flow version from its draft to its publication, and at last out of use.

    Every method raises AccessDenied without the permission that it needs, and NotFound for an unknown flow. What a
    version's status forbids is told before a precondition that doesn't hold (RFC 9110, section 13.2.1). Documents are
    read and judged by `run_heavy`, and never while a flow is locked.
    """

    unit_of_work: UnitOfWork
    validator: FlowDefinitionValidator
    catalogue: IntegrationCatalogue
    identifiers: Identifiers
    run_heavy: RunHeavy = run_inline

    async def create_draft(
        self, document: JsonObject, actor: Actor, *, correlation_id: CorrelationId | None = None
    ) -> StoredFlow:
        """Store a definition that can be read as a draft; its soundness is judged by `validate` and `publish`.

        Raises FlowInvalid when the document isn't a flow definition, DuplicateFlowVersion when key and version exist.
        """
        require_any(actor, FLOW_EDITOR)
        definition = await self.run_heavy(partial(read_flow, document))
        draft = StoredFlow(
            id=FlowId(self.identifiers.uuid()),
            flow_key=definition.flow_key,
            version=definition.version,
            status=FlowStatus.DRAFT,
            schema_version=1,
            document=document,
            revision=Revision(0),
            created_by=actor.subject,
        )
        fact = flow_fact("FLOW_CREATED", draft, actor, correlation_id, before=None)

        async def story(work: Transaction) -> StoredFlow:
            return await work.flows.add(draft, fact)

        return await self.unit_of_work.run_once(story)

    async def edit(
        self,
        flow_id: FlowId,
        document: JsonObject,
        *,
        precondition: Precondition,
        actor: Actor,
        correlation_id: CorrelationId | None = None,
    ) -> StoredFlow:
        """Replace the definition of a draft, whose key and version stay what they are.

        Raises FlowInvalid when the document isn't a flow definition or names another key or version, FlowNotDraft once
        the version has been published, RevisionMismatch.
        """
        require_any(actor, FLOW_EDITOR)
        definition = await self.run_heavy(partial(read_flow, document))

        async def story(work: Transaction) -> StoredFlow:
            draft = _known(await work.flows.lock(flow_id))
            draft.require_draft()
            _require(precondition, draft)
            _require_same_identity(definition, draft)
            edited = draft.edited(document)
            fact = flow_fact("FLOW_EDITED", edited, actor, correlation_id, before=draft)
            return await work.flows.save(edited, before=draft.revision, fact=fact)

        return await self.unit_of_work.run_once(story)

    async def find(self, flow_id: FlowId, actor: Actor) -> StoredFlow:
        require_any(actor, *FLOW_READERS)

        async def story(work: Transaction) -> StoredFlow:
            return _known(await work.flows.find(flow_id))

        return await self.unit_of_work.run(story)

    async def list_versions(
        self,
        actor: Actor,
        *,
        matching: FlowFilter = EVERY_FLOW,
        after: FlowPosition | None = None,
        limit: int = LISTED_MAX,
    ) -> Page[FlowSummary, FlowPosition]:
        """Return at most `limit` versions in the order of key and version, from behind a position on."""
        require_any(actor, *FLOW_READERS)

        async def story(work: Transaction) -> Page[FlowSummary, FlowPosition]:
            found = await work.flows.list_versions(matching=matching, after=after, limit=limit + 1)
            return page_of(found, limit=limit, position=_position)

        return await self.unit_of_work.run(story)

    async def validate(self, flow_id: FlowId, actor: Actor) -> ValidationReport:
        """Return every finding; nothing is changed."""
        require_any(actor, FLOW_EDITOR, FLOW_PUBLISHER)
        stored = await self.find(flow_id, actor)
        return await self.run_heavy(partial(self.validator.validate, stored.document))

    async def publish(
        self,
        flow_id: FlowId,
        actor: Actor,
        *,
        precondition: Precondition | None = None,
        correlation_id: CorrelationId | None = None,
    ) -> StoredFlow:
        """Make a draft immutable, with its checksum and the contracts that its actions are held to from now on.

        A draft that is edited meanwhile is judged again unless the precondition forbids it. Raises FlowNotDraft,
        RevisionMismatch, or FlowInvalid with all findings.
        """
        require_any(actor, FLOW_PUBLISHER)
        draft = await self._draft(flow_id, precondition)
        for _ in range(_EXAMINATIONS_MAX):
            published = await self.run_heavy(partial(self._published, draft))
            stored = await self._publish(draft, published, actor, precondition, correlation_id)
            if stored is not None:
                return stored
            draft = await self._draft(flow_id, precondition)
        raise RevisionMismatch(
            "The flow changes while it is validated; publish it when its edits are done.",
            current=draft.revision,
        )

    async def _draft(self, flow_id: FlowId, precondition: Precondition | None) -> StoredFlow:
        async def story(work: Transaction) -> StoredFlow:
            return _known(await work.flows.find(flow_id))

        draft = await self.unit_of_work.run(story)
        draft.require_draft()
        _require(precondition, draft)
        return draft

    def _published(self, draft: StoredFlow) -> StoredFlow:
        report = self.validator.validate(draft.document)
        if not report.publishable:
            raise FlowInvalid("The flow has findings that forbid publication.", findings=report.findings)
        contracts = pin_contracts(read_flow(draft.document), self.catalogue.current)
        return draft.published(checksum=checksum_of(draft.document), contracts=contracts)

    async def _publish(
        self,
        draft: StoredFlow,
        published: StoredFlow,
        actor: Actor,
        precondition: Precondition | None,
        correlation_id: CorrelationId | None,
    ) -> StoredFlow | None:
        """Store what was published, unless another document has come into its place: then return None."""
        fact = flow_fact("FLOW_PUBLISHED", published, actor, correlation_id, before=draft)

        async def story(work: Transaction) -> StoredFlow | None:
            locked = _known(await work.flows.lock(draft.id))
            locked.require_draft()
            _require(precondition, locked)
            if locked.revision != draft.revision:
                return None
            return await work.flows.save(published, before=draft.revision, fact=fact)

        return await self.unit_of_work.run_once(story)

    async def retire(
        self,
        flow_id: FlowId,
        actor: Actor,
        *,
        precondition: Precondition | None = None,
        correlation_id: CorrelationId | None = None,
    ) -> StoredFlow:
        """Close a published version to new requests; those that exist go on with it.

        Locks the flow and nothing else, whichever types it is the active one of. A version that is retired already is
        returned as it is, without another fact. Raises FlowNotPublished for a draft, RevisionMismatch.
        """
        require_any(actor, FLOW_ADMIN)

        async def story(work: Transaction) -> StoredFlow:
            flow = _known(await work.flows.lock(flow_id))
            if flow.status is FlowStatus.RETIRED:
                return flow
            retired = flow.retired()
            _require(precondition, flow)
            fact = flow_fact("FLOW_RETIRED", retired, actor, correlation_id, before=flow)
            return await work.flows.save(retired, before=flow.revision, fact=fact)

        return await self.unit_of_work.run_once(story)


def _known(flow: StoredFlow | None) -> StoredFlow:
    if flow is None:
        raise NotFound("There is no such flow.")
    return flow


def _require(precondition: Precondition | None, flow: StoredFlow) -> None:
    if precondition is not None and not revision_matches(precondition, flow.revision):
        raise RevisionMismatch(
            "The flow has changed since you read it; read it again.", current=flow.revision
        )


def _require_same_identity(definition: FlowDefinition, draft: StoredFlow) -> None:
    findings = [
        Finding(
            code="IDENTITY_CHANGED",
            pointer=pointer,
            message="A draft keeps its key and version: create another draft for others.",
            suggestion=f"Use {kept}.",
        )
        for pointer, kept, named in (
            ("/flowKey", draft.flow_key, definition.flow_key),
            ("/version", draft.version, definition.version),
        )
        if kept != named
    ]
    if findings:
        raise FlowInvalid("The definition belongs to another flow version.", findings=findings)


def _position(flow: FlowSummary) -> FlowPosition:
    return FlowPosition(flow_key=flow.flow_key, version=flow.version)
