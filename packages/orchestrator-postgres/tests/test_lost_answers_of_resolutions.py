"""A resolution whose COMMIT got no answer counts once, whether it was committed or not."""

from collections.abc import Callable

import pytest
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.resolution_desk import WAYS, Desk

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.reconciliation import Way
from orchestrator_domain.testing.contracts.reconciliation_store_contract import resolutions, stopped
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork


@pytest.mark.parametrize("fault", [CuttingProxy.cut_next_commit, CuttingProxy.lose_next_commit])
@pytest.mark.parametrize("way", WAYS)
async def test_a_resolution_whose_commit_got_no_answer_is_made_once(
    harness: PostgresHarness, way: Way, fault: Callable[[CuttingProxy], None]
) -> None:
    desk = Desk(harness=harness, cases=StoredCases(harness=harness))
    execution = await stopped(desk.cases)
    async with (
        CuttingProxy(harness.database.runtime_url) as proxy,
        PostgresEngine(ConnectionSettings(url=proxy.url), connections_min=0) as engine,
    ):
        fault(proxy)
        resolved = await desk.resolve(execution, way, work=PostgresUnitOfWork(engine))
        assert proxy.cuts == 1
    assert resolved.execution.status is await desk.status(execution)
    assert (await desk.kinds(execution)).count(AuditKind.RECONCILIATION_RESOLVED) == 1
    (made,) = await resolutions(harness, execution.id)
    assert made.id == resolved.resolution.id
