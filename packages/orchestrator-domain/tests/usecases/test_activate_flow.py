"""Which published version new requests of a type get."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Sequence

import pytest
from attrs import evolve, frozen
from tests.plugins.embedded_service import AUTHOR, CHAIN_TYPE_KEY, EmbeddedService

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    FlowNotPublished,
    FlowRetired,
    NotFound,
    OrchestratorError,
    RequestTypeDisabled,
    RevisionMismatch,
)
from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import CorrelationId, FlowId, RequestTypeKey, Revision, Role
from orchestrator_domain.ports.flow_store import LISTED_MAX, AdminFact, FlowStore, RequestTypeStore
from orchestrator_domain.ports.history import HistoryReader
from orchestrator_domain.ports.reconciliation_store import ReconciliationStore
from orchestrator_domain.ports.request_store import RequestStore
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import AnyRevision, Precondition, RevisionIn
from orchestrator_domain.testing.chain import chain_document
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist, TypePrecondition


@pytest.fixture
def service() -> EmbeddedService:
    return EmbeddedService()


async def activate(
    service: EmbeddedService, flow_id: FlowId, precondition: TypePrecondition | None = None
) -> RequestType:
    return await service.activation.activate(
        CHAIN_TYPE_KEY, flow_id, precondition=precondition or MustNotExist(), actor=AUTHOR
    )


async def test_the_first_activation_creates_the_type(service: EmbeddedService) -> None:
    flow = await service.published()
    created = await activate(service, flow.id)
    assert created == RequestType(key=CHAIN_TYPE_KEY, active_flow=flow.id, enabled=True, revision=Revision(0))
    assert await service.activation.find(CHAIN_TYPE_KEY, AUTHOR) == created


@pytest.mark.parametrize("precondition", [RevisionIn(tags=("0",)), AnyRevision()])
async def test_a_later_activation_moves_the_type_under_its_precondition(
    service: EmbeddedService, precondition: TypePrecondition
) -> None:
    await activate(service, (await service.published()).id)
    second = await service.published({**chain_document(), "version": 2})
    moved = await activate(service, second.id, precondition)
    assert (moved.active_flow, moved.revision) == (second.id, 1)


async def test_each_activation_is_kept_with_what_was_active_before(service: EmbeddedService) -> None:
    first = await service.published()
    await activate(service, first.id)
    second = await service.published({**chain_document(), "version": 2})
    await activate(service, second.id, AnyRevision())
    facts = [fact for fact in await service.harness.admin_facts() if fact.action == "FLOW_ACTIVATED"]
    assert [fact.detail for fact in facts] == [
        {
            "activeFlowBefore": None,
            "checksumBefore": None,
            "activeFlow": str(first.id),
            "checksum": first.checksum,
        },
        {
            "activeFlowBefore": str(first.id),
            "checksumBefore": first.checksum,
            "activeFlow": str(second.id),
            "checksum": second.checksum,
        },
    ]
    assert {(fact.type_key, fact.actor) for fact in facts} == {(CHAIN_TYPE_KEY, "author-1")}


@pytest.mark.parametrize(
    ("exists", "precondition", "current"),
    [
        (True, MustNotExist(), 0),
        (True, RevisionIn(tags=("1",)), 0),
        (False, RevisionIn(tags=("0",)), None),
        (False, AnyRevision(), None),
    ],
)
async def test_a_precondition_that_does_not_hold_changes_nothing(
    service: EmbeddedService, precondition: TypePrecondition, current: int | None, *, exists: bool
) -> None:
    flow = await service.published()
    if exists:
        await activate(service, flow.id)
    facts = list(await service.harness.admin_facts())
    with pytest.raises(RevisionMismatch) as refusal:
        await activate(service, flow.id, precondition)
    assert refusal.value.current == current
    assert list(await service.harness.admin_facts()) == facts


async def test_of_two_first_activations_at_once_one_creates(service: EmbeddedService) -> None:
    flow = await service.published()
    results = await gather(activate(service, flow.id), activate(service, flow.id), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["RequestType", "RevisionMismatch"]


async def test_a_type_that_appears_between_lock_and_insert_is_a_mismatch(service: EmbeddedService) -> None:
    """No lock holds a row that isn't there yet, so the insert has the last word."""
    flow = await service.published()
    await activate(service, flow.id)
    blind = ActivateFlow(unit_of_work=BlindUnitOfWork(service.unit_of_work))
    with pytest.raises(RevisionMismatch):
        await blind.activate(CHAIN_TYPE_KEY, flow.id, precondition=MustNotExist(), actor=AUTHOR)


async def test_of_two_later_activations_at_once_under_one_revision_one_moves_the_type(
    service: EmbeddedService,
) -> None:
    flow = await service.published()
    await activate(service, flow.id)
    tag = RevisionIn(tags=("0",))
    results = await gather(
        activate(service, flow.id, tag), activate(service, flow.id, tag), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["RequestType", "RevisionMismatch"]


async def test_only_a_published_version_is_activated(service: EmbeddedService) -> None:
    published = await service.published()
    draft = await service.author.create_draft({**chain_document(), "version": 2}, AUTHOR)
    retired = await service.author.retire(published.id, AUTHOR)
    refusals: list[tuple[FlowId, type[OrchestratorError]]] = [
        (draft.id, FlowNotPublished),
        (retired.id, FlowRetired),
        (FlowId(service.identifiers.uuid()), NotFound),
    ]
    for flow_id, refusal in refusals:
        with pytest.raises(refusal) as refused:
            await activate(service, flow_id)
        assert refused.value.pointer == "/flowId"
    assert not service.harness.store.request_types.rows


async def switch(
    service: EmbeddedService, *, enabled: bool, tag: str | None = None, actor: Actor = AUTHOR
) -> RequestType:
    precondition: Precondition = AnyRevision() if tag is None else RevisionIn(tags=(tag,))
    return await service.activation.switch(
        CHAIN_TYPE_KEY,
        enabled=enabled,
        precondition=precondition,
        actor=actor,
        correlation_id=CorrelationId("trace-1"),
    )


async def test_a_type_is_closed_to_new_requests_and_opened_again(service: EmbeddedService) -> None:
    await service.activated()
    closed = await switch(service, enabled=False, tag="0")
    assert (closed.enabled, closed.revision) == (False, 1)
    with pytest.raises(RequestTypeDisabled):
        await service.created()
    assert (await switch(service, enabled=True, tag="1")).revision == 2
    await service.created()


async def test_each_switching_is_kept_with_who_did_it_and_the_flow_that_it_concerns(
    service: EmbeddedService,
) -> None:
    flow = await service.activated()
    await switch(service, enabled=False)
    await switch(service, enabled=True)
    facts = list(await service.harness.admin_facts())[-2:]
    assert [(fact.action, fact.detail) for fact in facts] == [
        ("TYPE_DISABLED", {"enabledBefore": True, "enabled": False, "checksum": flow.checksum}),
        ("TYPE_ENABLED", {"enabledBefore": False, "enabled": True, "checksum": flow.checksum}),
    ]
    known = {(fact.actor, fact.type_key, fact.flow_id, fact.correlation_id) for fact in facts}
    assert known == {("author-1", CHAIN_TYPE_KEY, flow.id, "trace-1")}


async def test_setting_what_is_set_already_changes_nothing(service: EmbeddedService) -> None:
    await service.activated()
    facts = list(await service.harness.admin_facts())
    assert (await switch(service, enabled=True)).revision == 0
    assert list(await service.harness.admin_facts()) == facts


async def test_a_switching_from_a_revision_that_moved_is_refused(service: EmbeddedService) -> None:
    await service.activated()
    await switch(service, enabled=False)
    with pytest.raises(RevisionMismatch) as stale:
        await switch(service, enabled=True, tag="0")
    assert stale.value.current == 1
    assert not (await service.activation.find(CHAIN_TYPE_KEY, AUTHOR)).enabled


async def test_an_activation_leaves_a_closed_type_closed(service: EmbeddedService) -> None:
    await service.activated()
    await switch(service, enabled=False)
    second = await service.published({**chain_document(), "version": 2})
    assert not (await activate(service, second.id, AnyRevision())).enabled


async def test_switching_needs_the_flow_admin_and_a_type(service: EmbeddedService) -> None:
    with pytest.raises(NotFound):
        await switch(service, enabled=False)
    await service.activated()
    with pytest.raises(AccessDenied):
        await switch(service, enabled=False, actor=evolve(AUTHOR, roles=frozenset({Role("FLOW_PUBLISHER")})))


async def test_types_are_listed_page_by_page(service: EmbeddedService) -> None:
    flow = await service.published()
    keys = [RequestTypeKey(name) for name in ("A", "B", "C")]
    for key in reversed(keys):
        await service.activation.activate(key, flow.id, precondition=MustNotExist(), actor=AUTHOR)
    first = await service.activation.list_types(AUTHOR, limit=2)
    assert ([each.key for each in first.items], first.last) == (keys[:2], "B")
    rest = await service.activation.list_types(AUTHOR, after=first.last, limit=2)
    assert ([each.key for each in rest.items], rest.last) == (keys[2:], None)
    with pytest.raises(AccessDenied):
        await service.activation.list_types(CLERK)


async def test_activating_needs_the_flow_admin_and_reading_any_technical_role(
    service: EmbeddedService,
) -> None:
    flow = await service.published()
    publisher = evolve(AUTHOR, roles=frozenset({Role("FLOW_PUBLISHER")}))
    with pytest.raises(AccessDenied):
        await service.activation.activate(
            CHAIN_TYPE_KEY, flow.id, precondition=MustNotExist(), actor=publisher
        )
    await activate(service, flow.id)
    assert (await service.activation.find(CHAIN_TYPE_KEY, publisher)).active_flow == flow.id
    with pytest.raises(AccessDenied):
        await service.activation.find(CHAIN_TYPE_KEY, CLERK)


async def test_an_unknown_type_is_not_found(service: EmbeddedService) -> None:
    with pytest.raises(NotFound):
        await service.activation.find(CHAIN_TYPE_KEY, AUTHOR)


@frozen
class BlindUnitOfWork(UnitOfWork):
    """Let stories lock request types before anybody has created them."""

    stores: UnitOfWork

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async def blindly(work: Transaction) -> Result:
            return await story(
                _BlindTransaction(
                    requests=work.requests,
                    history=work.history,
                    flows=work.flows,
                    reconciliation=work.reconciliation,
                    seen=work,
                )
            )

        return await self.stores.run(blindly)


@frozen(kw_only=True)
class _BlindTransaction(Transaction):
    requests: RequestStore
    history: HistoryReader
    flows: FlowStore
    reconciliation: ReconciliationStore
    seen: Transaction

    @property
    def request_types(self) -> RequestTypeStore:
        return _BlindTypes(self.seen.request_types)


@frozen
class _BlindTypes(RequestTypeStore):
    types: RequestTypeStore

    async def find(self, key: RequestTypeKey) -> RequestType | None:
        return await self.types.find(key)

    async def list_types(
        self, *, after: RequestTypeKey | None = None, limit: int = LISTED_MAX
    ) -> Sequence[RequestType]:
        return await self.types.list_types(after=after, limit=limit)

    async def lock(self, key: RequestTypeKey) -> RequestType | None:  # noqa: ARG002 - blind to every key
        return None

    async def lock_shared(self, key: RequestTypeKey) -> RequestType | None:
        return await self.types.lock_shared(key)

    async def add(self, request_type: RequestType, fact: AdminFact) -> bool:
        return await self.types.add(request_type, fact)

    async def save(self, request_type: RequestType, *, before: Revision, fact: AdminFact) -> RequestType:
        return await self.types.save(request_type, before=before, fact=fact)
