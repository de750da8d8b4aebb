"""Creating requests, durably idempotent per actor, scope and key."""

from asyncio import gather

import pytest
from attrs import evolve
from tests.plugins.embedded_service import (
    AUTHOR,
    CHAIN_TYPE_KEY,
    EmbeddedService,
    creation,
    go,
    service_with,
)

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import (
    AccessDenied,
    FlowRetired,
    IdempotencyConflict,
    InvalidInput,
    OrchestratorError,
    RequestTypeDisabled,
    RequestTypeWithoutFlow,
    ScopeRequired,
    StorageUnavailable,
    UnknownRequestType,
)
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import BusinessScope, RequestTypeKey, Subject
from orchestrator_domain.ports.observer import Command
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.request.acceptance import RevisionIn
from orchestrator_domain.testing.chain import chain_document
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, admin_fact
from orchestrator_domain.testing.recording_observer import CommandRefused, RequestWasCreated

NORTH, SOUTH = BusinessScope("NORTH"), BusinessScope("SOUTH")
TRAVELLER = evolve(CLERK, scopes=frozenset({NORTH, SOUTH}))


@pytest.fixture
async def service() -> EmbeddedService:
    service = EmbeddedService()
    await service.activated()
    return service


async def test_a_request_is_born_with_the_active_version_and_its_first_history_entry(
    service: EmbeddedService,
) -> None:
    created = await service.create(creation(), CLERK)
    request = created.request.request
    assert (created.replayed, created.request.active_execution) == (False, None)
    assert (request.flow.key, request.flow.version, request.state) == ("CHAIN", 1, "OPEN")
    (entry,) = await service.harness.history(request.id)
    assert (entry.kind, entry.actor, entry.to_state) == (AuditKind.REQUEST_CREATED, "clerk-1", "OPEN")
    assert verify_chain([entry]) is None
    assert "ladder" not in repr(entry.detail)


async def test_a_repeat_finds_the_request_as_it_has_become(service: EmbeddedService) -> None:
    first = await service.created()
    execution = (await service.accept(go(first.id), CLERK)).execution
    repeat = await service.create(creation(), CLERK)
    assert repeat.replayed
    assert (repeat.request.request.id, repeat.request.request.revision) == (first.id, 1)
    assert repeat.request.active_execution == execution.id
    assert len(service.harness.store.requests.rows) == 1


async def test_a_repeat_is_answered_even_if_the_type_was_switched_off_meanwhile(
    service: EmbeddedService,
) -> None:
    first = await service.created()
    await changed(service, enabled=False)
    assert (await service.create(creation(), CLERK)).request.request.id == first.id


async def test_the_observer_is_told_of_a_creation_once_and_of_every_refusal(service: EmbeddedService) -> None:
    create, observer = evolve(service.create, observer=service.observer), service.observer
    created = (await create(creation(), CLERK)).request.request
    assert (await create(creation(), CLERK)).replayed
    with pytest.raises(IdempotencyConflict):
        await create(creation(data={"item": "saw"}), CLERK)
    with pytest.raises(AccessDenied):
        await create(creation(scope=SOUTH), CLERK)
    assert observer.observations == [
        RequestWasCreated(request_id=created.id, flow=created.flow),
        CommandRefused(command=Command.CREATE_REQUEST, code="IDEMPOTENCY_CONFLICT"),
        CommandRefused(command=Command.CREATE_REQUEST, code="ACCESS_DENIED"),
    ]


async def test_naming_the_only_scope_makes_no_other_command(service: EmbeddedService) -> None:
    first = await service.created()
    repeat = await service.create(creation(scope=NORTH), CLERK)
    assert (repeat.replayed, repeat.request.request.id) == (True, first.id)


async def test_a_key_that_created_another_request_is_a_conflict(service: EmbeddedService) -> None:
    await service.created()
    with pytest.raises(IdempotencyConflict):
        await service.create(creation(data={"item": "saw"}), CLERK)


async def test_a_key_belongs_to_its_actor_and_its_scope(service: EmbeddedService) -> None:
    ids = {
        (await service.create(creation(scope=scope), actor)).request.request.id
        for actor, scope in ((TRAVELLER, NORTH), (TRAVELLER, SOUTH), (COLLEAGUE, NORTH))
    }
    assert len(ids) == 3


async def test_of_two_creations_at_once_under_one_key_one_creates(service: EmbeddedService) -> None:
    both = await gather(service.create(creation(), CLERK), service.create(creation(), CLERK))
    assert {created.replayed for created in both} == {True, False}
    assert len({created.request.request.id for created in both}) == 1


async def test_a_creation_whose_request_can_not_be_read_is_a_fault_of_the_store(
    service: EmbeddedService,
) -> None:
    await service.created()
    service.harness.store.requests.rows.clear()
    with pytest.raises(StorageUnavailable):
        await service.create(creation(), CLERK)


async def test_a_flow_of_a_type_without_one_is_asked_for(service: EmbeddedService) -> None:
    key = RequestTypeKey("EMPTY")
    empty = RequestType(key=key, active_flow=None, enabled=True, revision=(await _type(service)).revision)

    async def story(work: Transaction) -> bool:
        return await work.request_types.add(empty, admin_fact("TYPE_CREATED", type_key=key))

    await service.harness.unit_of_work().run(story)
    with pytest.raises(RequestTypeWithoutFlow):
        await service.create(evolve(creation(), type_key=key), CLERK)


async def test_a_type_that_is_switched_off_creates_nothing(service: EmbeddedService) -> None:
    await changed(service, enabled=False)
    with pytest.raises(RequestTypeDisabled):
        await service.create(creation(), CLERK)


async def test_a_retired_flow_gets_no_new_request_and_its_old_ones_go_on(service: EmbeddedService) -> None:
    request = await service.created()
    await retire_active(service)
    with pytest.raises(FlowRetired):
        await service.create(creation(key="create-2"), CLERK)
    assert not (await service.accept(go(request.id), CLERK)).replayed


async def test_a_new_version_is_for_new_requests_and_old_ones_keep_theirs(service: EmbeddedService) -> None:
    old = await service.created()
    second = await service.published({**chain_document(()), "version": 2})
    precondition = RevisionIn(tags=(str((await _type(service)).revision),))
    await service.activation.activate(CHAIN_TYPE_KEY, second.id, precondition=precondition, actor=AUTHOR)
    new = await service.created(key="create-2")
    assert (new.flow.version, (await service.seen(old.id)).flow.version) == (2, 1)


REFUSALS: list[tuple[str, type[OrchestratorError]]] = [
    ("scope", AccessDenied),
    ("several", ScopeRequired),
    ("type", UnknownRequestType),
    ("schema", InvalidInput),
]


@pytest.mark.parametrize(("flaw", "refusal"), REFUSALS)
async def test_a_refused_creation_stores_nothing_and_its_key_stays_free(
    flaw: str, refusal: type[OrchestratorError]
) -> None:
    service = service_with(Effect.READ_ONLY)
    await service.activated(
        {**chain_document(), "creation": {"inputSchema": {"type": "object", "required": ["item"]}}}
    )
    plain = creation()
    command, actor = {
        "scope": (evolve(plain, scope=SOUTH), CLERK),
        "several": (plain, TRAVELLER),
        "type": (evolve(plain, type_key=RequestTypeKey("UNKNOWN")), CLERK),
        "schema": (evolve(plain, data={"other": 1}), CLERK),
    }[flaw]
    with pytest.raises(refusal):
        await service.create(command, actor)
    store = service.harness.store
    assert not any(table.rows for table in (store.requests, store.creations, store.history))
    assert not (await service.create(plain, CLERK)).replayed


async def test_the_owner_is_the_actor_and_never_what_the_data_says(service: EmbeddedService) -> None:
    data_of_another = {"item": "ladder", "owner": "clerk-9", "scope": "SOUTH"}
    created = await service.create(creation(data={**data_of_another}), CLERK)
    assert (created.request.request.owner, created.request.request.scope) == (Subject("clerk-1"), NORTH)


async def _type(service: EmbeddedService) -> RequestType:
    return await service.activation.find(CHAIN_TYPE_KEY, AUTHOR)


async def changed(service: EmbeddedService, *, enabled: bool) -> None:
    before = await _type(service)

    async def story(work: Transaction) -> RequestType:
        fact = admin_fact("TYPE_SWITCHED", type_key=CHAIN_TYPE_KEY)
        return await work.request_types.save(
            before.switched(enabled=enabled), before=before.revision, fact=fact
        )

    await service.harness.unit_of_work().run(story)


async def retire_active(service: EmbeddedService) -> None:
    active = (await _type(service)).active_flow
    assert active is not None

    async def story(work: Transaction) -> None:
        flow = await work.flows.lock(active)
        assert flow is not None
        fact = admin_fact("FLOW_RETIRED", flow_id=active)
        await work.flows.save(flow.retired(), before=flow.revision, fact=fact)

    await service.harness.unit_of_work().run(story)
