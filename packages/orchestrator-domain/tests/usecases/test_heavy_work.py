"""Long computations of authors: outside of every transaction, by the host's way of running them."""

from collections.abc import Awaitable, Callable

import pytest
from attrs import define, evolve, field
from tests.plugins.embedded_service import AUTHOR, EmbeddedService

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import FlowInvalid, RevisionMismatch
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import EventKey, FlowId
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import AnyRevision, RevisionIn
from orchestrator_domain.simulation.scenario import Transitioned
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document, chain_result
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.simulate_flow import SimulateFlow, SimulateFlowCommand

TITLED: JsonObject = {**chain_document(), "title": "Chain"}
UNSOUND: JsonObject = {**chain_document(), "initialState": "NOWHERE"}


@define
class WatchedUnitOfWork(UnitOfWork):
    """Know how many transactions are open."""

    stores: UnitOfWork
    open: int = 0

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        self.open += 1
        try:
            return await self.stores.run(story)
        finally:
            self.open -= 1


@define
class Host:
    """Run long computations, remembering how many transactions were open; `meanwhile` happens before each."""

    stores: WatchedUnitOfWork
    meanwhile: list[Callable[[], Awaitable[object]]] = field(factory=list)
    open_meanwhile: list[int] = field(factory=list)

    async def run_heavy[Result](self, work: Callable[[], Result], /) -> Result:
        self.open_meanwhile.append(self.stores.open)
        result = work()
        if self.meanwhile:
            await self.meanwhile.pop(0)()
        return result


@pytest.fixture
def service() -> EmbeddedService:
    return EmbeddedService()


@pytest.fixture
def host(service: EmbeddedService) -> Host:
    return Host(WatchedUnitOfWork(service.unit_of_work))


@pytest.fixture
def author(service: EmbeddedService, host: Host) -> AuthorFlow:
    return evolve(service.author, unit_of_work=host.stores, run_heavy=host.run_heavy)


def edited(
    service: EmbeddedService, flow_id: FlowId, document: JsonObject
) -> Callable[[], Awaitable[object]]:
    async def edit() -> StoredFlow:
        return await service.author.edit(flow_id, document, precondition=AnyRevision(), actor=AUTHOR)

    return edit


async def test_no_transaction_is_open_while_a_document_is_read_or_judged(
    author: AuthorFlow, host: Host
) -> None:
    draft = await author.create_draft(chain_document(), AUTHOR)
    await author.edit(draft.id, TITLED, precondition=AnyRevision(), actor=AUTHOR)
    await author.validate(draft.id, AUTHOR)
    await author.publish(draft.id, AUTHOR)
    assert host.open_meanwhile == [0, 0, 0, 0]


async def test_a_draft_that_is_edited_while_it_is_judged_is_judged_again(
    service: EmbeddedService, author: AuthorFlow, host: Host
) -> None:
    draft = await service.author.create_draft(chain_document(), AUTHOR)
    host.meanwhile.append(edited(service, draft.id, TITLED))
    published = await author.publish(draft.id, AUTHOR)
    assert (published.status, published.document) == (FlowStatus.PUBLISHED, TITLED)
    assert published.checksum == sha256_hex(TITLED)
    assert len(host.open_meanwhile) == 2


async def test_an_edit_while_a_sound_draft_is_judged_brings_nothing_unsound_to_publication(
    service: EmbeddedService, author: AuthorFlow, host: Host
) -> None:
    draft = await service.author.create_draft(chain_document(), AUTHOR)
    host.meanwhile.append(edited(service, draft.id, UNSOUND))
    with pytest.raises(FlowInvalid):
        await author.publish(draft.id, AUTHOR)
    assert (await service.author.find(draft.id, AUTHOR)).status is FlowStatus.DRAFT


async def test_an_edit_while_a_draft_is_judged_refuses_a_publication_of_what_was_read(
    service: EmbeddedService, author: AuthorFlow, host: Host
) -> None:
    draft = await service.author.create_draft(chain_document(), AUTHOR)
    host.meanwhile.append(edited(service, draft.id, TITLED))
    with pytest.raises(RevisionMismatch) as stale:
        await author.publish(draft.id, AUTHOR, precondition=RevisionIn(tags=("0",)))
    assert stale.value.current == 1
    assert (await service.author.find(draft.id, AUTHOR)).status is FlowStatus.DRAFT


async def test_a_draft_that_never_rests_is_given_up_in_the_end(
    service: EmbeddedService, author: AuthorFlow, host: Host
) -> None:
    draft = await service.author.create_draft(chain_document(), AUTHOR)
    host.meanwhile.extend([edited(service, draft.id, TITLED)] * 5)
    with pytest.raises(RevisionMismatch) as restless:
        await author.publish(draft.id, AUTHOR)
    assert restless.value.current == 5


async def test_a_simulation_is_a_long_computation_outside_of_transactions(
    service: EmbeddedService, host: Host
) -> None:
    flow = await service.author.create_draft(chain_document(), AUTHOR)
    simulate = SimulateFlow(
        unit_of_work=host.stores,
        validator=FlowSoundness(resolve_contract=service.catalogue.current),
        catalogue=service.catalogue,
        evaluator=CompiledDecisionEvaluator(),
        limits=FlowLimits(),
        run_heavy=host.run_heavy,
    )
    command = SimulateFlowCommand(
        flow_id=flow.id,
        data={"item": "ladder"},
        event=EventKey("GO"),
        event_data={},
        results={action: chain_result(action).result for action in CHAIN_ACTIONS},
    )
    found = await simulate(command, AUTHOR)
    assert isinstance(found.simulated, Transitioned)
    assert host.open_meanwhile == [0]
