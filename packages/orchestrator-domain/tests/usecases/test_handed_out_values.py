"""What a handler does with the values that it was handed, or has answered, changes nothing that is decided or stored."""

from typing import Any

import pytest
from tests.plugins.embedded_service import EmbeddedService, creation, go

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import ActionResult, Succeeded
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing import chain
from orchestrator_domain.testing.examples import CLERK

_ACCEPTED: JsonObject = {"item": {"amount": 100}}


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> EmbeddedService:
    """A service whose actions take an object each."""
    monkeypatch.setitem(vars(chain)["_INPUT_SCHEMA"]["properties"], "item", {"type": "object"})
    service = EmbeddedService()
    service.script()
    await service.activated()
    return service


async def test_inputs_that_a_handler_changes_are_its_own(service: EmbeddedService) -> None:
    request = (await service.create(creation(data=_ACCEPTED), CLERK)).request.request
    await service.accept(go(request.id), CLERK)
    handed: list[Any] = []

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        item: Any = context.inputs["item"]
        handed.append(dict(item))
        item["amount"] = 999
        return await service.handler.execute(definition, context)

    ended = await service.runner(attempt=attempt).run(await service.claimed())
    assert ended.status is ExecutionStatus.SUCCEEDED
    assert handed == [{"amount": 100}] * 3
    assert (await service.seen(request.id)).data["item"] == {"amount": 100}


async def test_a_result_that_a_handler_changes_afterwards_is_its_own(service: EmbeddedService) -> None:
    request = (await service.create(creation(data=_ACCEPTED), CLERK)).request.request
    await service.accept(go(request.id), CLERK)
    answered: list[Any] = []

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        for result in answered:
            result["value"] = 999
        outcome = await service.handler.execute(definition, context)
        assert isinstance(outcome, Succeeded)
        answered.append(outcome.result)
        return outcome

    ended = await service.runner(attempt=attempt).run(await service.claimed())
    assert ended.status is ExecutionStatus.SUCCEEDED
    assert answered == [{"value": 999}, {"value": 999}, {"value": 3}]
    data = (await service.seen(request.id)).data
    assert [data[name] for name in ("first", "second", "third")] == [{"value": 1}, {"value": 2}, {"value": 3}]
