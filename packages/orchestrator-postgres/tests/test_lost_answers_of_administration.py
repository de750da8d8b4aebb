"""An administrative command whose COMMIT got no answer: its outcome is unknown, and never told as a refusal."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from attrs import define, evolve, frozen
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.flow_administration import FlowAdministration
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.testing.examples import flow_document
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork

type Command = Callable[[FlowAdministration], Awaitable[object]]
type Prepared = Callable[[FlowAdministration], Awaitable[Command]]


async def create(_office: FlowAdministration) -> Command:
    return lambda away: away.draft()


async def publish(office: FlowAdministration) -> Command:
    draft = await office.draft()
    return lambda away: away.publish(draft.id)


async def retire(office: FlowAdministration) -> Command:
    flow = await office.published()
    return lambda away: away.retire(flow.id)


async def activate_first(office: FlowAdministration) -> Command:
    flow = await office.published()
    return lambda away: away.activate_first(flow.id)


async def activate(office: FlowAdministration) -> Command:
    await office.activate_first((await office.published()).id)
    newer = await office.publish((await office.draft(flow_document(version=2))).id)
    return lambda away: away.activate(newer.id)


async def switch(office: FlowAdministration) -> Command:
    await office.activate_first((await office.published()).id)
    return lambda away: away.switch(enabled=False)


@define
class ForewarnedUnitOfWork(UnitOfWork):
    """Tell when a story begins that isn't told again, so that the reads before it are left alone."""

    stores: UnitOfWork
    before_writing: Callable[[], None] = lambda: None

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self.stores.run(story)

    async def run_once[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        self.before_writing()
        return await self.stores.run_once(story)


@frozen(kw_only=True)
class Offices:
    """The same administration twice, one of them behind the proxy."""

    near: FlowAdministration
    behind: FlowAdministration
    work: ForewarnedUnitOfWork
    proxy: CuttingProxy
    harness: PostgresHarness

    async def acts(self) -> int:
        return len(await self.harness.admin_facts())


@pytest.fixture
async def offices(harness: PostgresHarness) -> AsyncIterator[Offices]:
    async with CuttingProxy(harness.database.runtime_url) as proxy:
        settings = ConnectionSettings(url=proxy.url, application_name="orchestrator-proxied")
        async with PostgresEngine(settings, connections_min=0) as engine:
            near = FlowAdministration.over(harness)
            work = ForewarnedUnitOfWork(PostgresUnitOfWork(engine))
            behind = evolve(near, unit_of_work=work, identifiers=SequentialIdentifiers(seed=9))
            yield Offices(near=near, behind=behind, work=work, proxy=proxy, harness=harness)


@pytest.mark.parametrize(
    ("fault", "stored"), [(CuttingProxy.cut_next_commit, 1), (CuttingProxy.lose_next_commit, 0)]
)
@pytest.mark.parametrize("prepared", [create, publish, retire, activate_first, activate, switch])
async def test_a_command_whose_commit_got_no_answer_is_told_as_unknown_and_stored_at_most_once(
    offices: Offices, prepared: Prepared, fault: Callable[[CuttingProxy], None], stored: int
) -> None:
    command = await prepared(offices.near)
    before = await offices.acts()
    offices.work.before_writing = lambda: fault(offices.proxy)
    with pytest.raises(StorageUnavailable):
        await command(offices.behind)
    assert offices.proxy.cuts == 1
    assert await offices.acts() - before == stored
