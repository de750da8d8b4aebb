"""Write, validate and publish flow versions."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowInvalid, NotFound, RevisionMismatch
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.findings import ValidationReport
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.soundness import pin_contracts
from orchestrator_domain.identifiers import CorrelationId, FlowId, Revision, Sha256Hex
from orchestrator_domain.ports.flow_definition_validator import FlowDefinitionValidator
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import Precondition, revision_matches
from orchestrator_domain.usecases.permissions import (
    FLOW_EDITOR,
    FLOW_PUBLISHER,
    FLOW_READERS,
    require_any,
)


@frozen(kw_only=True)
class AuthorFlow:
    """Take a flow version from its draft to its publication.

    Every method raises AccessDenied without the permission that it needs, and NotFound for an unknown flow.
    """

    unit_of_work: UnitOfWork
    validator: FlowDefinitionValidator
    catalogue: IntegrationCatalogue
    identifiers: Identifiers

    async def create_draft(
        self, document: JsonObject, actor: Actor, *, correlation_id: CorrelationId | None = None
    ) -> StoredFlow:
        """Store a definition that can be read as a draft; its soundness is judged by `validate` and `publish`.

        Raises FlowInvalid when the document isn't a flow definition, DuplicateFlowVersion when key and version exist.
        """
        require_any(actor, FLOW_EDITOR)
        definition = read_flow(document)
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
        fact = _fact("FLOW_CREATED", draft, actor, correlation_id, before=None)

        async def story(work: Transaction) -> StoredFlow:
            return await work.flows.add(draft, fact)

        return await self.unit_of_work.run(story)

    async def find(self, flow_id: FlowId, actor: Actor) -> StoredFlow:
        require_any(actor, *FLOW_READERS)

        async def story(work: Transaction) -> StoredFlow:
            return _known(await work.flows.find(flow_id))

        return await self.unit_of_work.run(story)

    async def validate(self, flow_id: FlowId, actor: Actor) -> ValidationReport:
        """Return every finding; nothing is changed."""
        require_any(actor, FLOW_EDITOR, FLOW_PUBLISHER)
        stored = await self.find(flow_id, actor)
        return self.validator.validate(stored.document)

    async def publish(
        self,
        flow_id: FlowId,
        actor: Actor,
        *,
        precondition: Precondition | None = None,
        correlation_id: CorrelationId | None = None,
    ) -> StoredFlow:
        """Make a draft immutable, with its checksum and the contracts that its actions are held to from now on.

        Raises FlowNotDraft, RevisionMismatch, or FlowInvalid with all findings.
        """
        require_any(actor, FLOW_PUBLISHER)

        async def story(work: Transaction) -> StoredFlow:
            draft = _known(await work.flows.lock(flow_id))
            _require(precondition, draft)
            published = self._published(draft)
            fact = _fact("FLOW_PUBLISHED", published, actor, correlation_id, before=_checksum(draft.document))
            return await work.flows.save(published, before=draft.revision, fact=fact)

        return await self.unit_of_work.run(story)

    def _published(self, draft: StoredFlow) -> StoredFlow:
        draft.require_draft()
        report = self.validator.validate(draft.document)
        if not report.publishable:
            raise FlowInvalid("The flow has findings that forbid publication.", findings=report.findings)
        contracts = pin_contracts(read_flow(draft.document), self.catalogue.current)
        return draft.published(checksum=_checksum(draft.document), contracts=contracts)


def _known(flow: StoredFlow | None) -> StoredFlow:
    if flow is None:
        raise NotFound("There is no such flow.")
    return flow


def _require(precondition: Precondition | None, flow: StoredFlow) -> None:
    if precondition is not None and not revision_matches(precondition, flow.revision):
        raise RevisionMismatch(
            "The flow has changed since you read it; read it again.", current=flow.revision
        )


def _checksum(document: JsonObject) -> Sha256Hex:
    return Sha256Hex(sha256_hex(document))


def _fact(
    action: str,
    flow: StoredFlow,
    actor: Actor,
    correlation_id: CorrelationId | None,
    *,
    before: Sha256Hex | None,
) -> AdminFact:
    return AdminFact(
        action=action,
        actor=actor.subject,
        flow_id=flow.id,
        correlation_id=correlation_id,
        detail={
            "flowKey": flow.flow_key,
            "version": flow.version,
            "checksumBefore": before,
            "checksum": _checksum(flow.document),
        },
    )
