"""What readers see."""

import pytest
from attrs import evolve
from tests.plugins.embedded_service import EmbeddedService, creation

from orchestrator_domain.errors import NotFound
from orchestrator_domain.identifiers import ExecutionId, RequestId, Role
from orchestrator_domain.testing.chain import chain_document
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, STRANGER

AUDITOR = evolve(CLERK, roles=frozenset({Role("AUDITOR")}))


async def test_a_reader_is_shown_the_data_without_what_is_kept_from_its_roles() -> None:
    service = EmbeddedService()
    await service.activated(
        {**chain_document(), "restrictedData": [{"path": "/price", "allowedRoles": ["AUDITOR"]}]}
    )
    created = await service.create(creation(data={"item": "ladder", "price": 7}), CLERK)
    request_id = created.request.request.id
    assert (await service.read.request(request_id, COLLEAGUE)).data == {"item": "ladder"}
    assert (await service.read.request(request_id, AUDITOR)).data == {"item": "ladder", "price": 7}


async def test_what_is_not_visible_does_not_exist() -> None:
    service = EmbeddedService()
    execution = await service.accepted()
    assert (await service.read.execution(execution.id, COLLEAGUE)).id == execution.id
    for unknown in (STRANGER, CLERK):
        request_id = execution.request_id if unknown is STRANGER else RequestId(service.identifiers.uuid())
        execution_id = execution.id if unknown is STRANGER else ExecutionId(service.identifiers.uuid())
        with pytest.raises(NotFound):
            await service.read.request(request_id, unknown)
        with pytest.raises(NotFound):
            await service.read.execution(execution_id, unknown)
