"""Limits that an operator lowers hold for what is published from then on, and never for what is published already."""

import pytest
from attrs import evolve, fields
from tests.plugins.embedded_service import AUTHOR, CHAIN_TYPE_KEY, EmbeddedService, go

from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document, chain_result
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.usecases.activate_flow import MustNotExist
from orchestrator_domain.usecases.flow_library import FlowLibrary

# How much data a request may hold is no matter of the definition.
OF_DEFINITIONS = tuple(each.name for each in fields(FlowLimits) if each.name != "data_bytes_max")
LOWERED = FlowLimits(**dict.fromkeys(OF_DEFINITIONS, 1))


def restarted(service: EmbeddedService) -> EmbeddedService:
    """Return the service with lowered limits and without anything that it had read."""
    return evolve(service, limits=LOWERED, flows=FlowLibrary())


async def test_a_published_flow_is_activated_and_runs_to_its_end_after_all_limits_were_lowered() -> None:
    service = EmbeddedService()
    flow = await service.published()
    lowered = restarted(service)
    for action in CHAIN_ACTIONS:
        lowered.handler.script(action, chain_result(action))

    await lowered.activation.activate(CHAIN_TYPE_KEY, flow.id, precondition=MustNotExist(), actor=AUTHOR)
    request = await lowered.created()
    accepted = await lowered.accept(go(request.id), CLERK)
    await lowered.run()

    assert (await lowered.execution(accepted.execution)).status is ExecutionStatus.SUCCEEDED
    assert (await lowered.seen(request.id)).state == "DONE"


async def test_a_draft_from_before_is_held_to_the_lowered_limits_when_it_is_published() -> None:
    service = EmbeddedService()
    draft = await service.author.create_draft(chain_document(), AUTHOR)

    with pytest.raises(FlowInvalid) as refusal:
        await restarted(service).author.publish(draft.id, AUTHOR)

    assert [finding.code for finding in refusal.value.findings] == ["DEFINITION_TOO_LARGE"]
    await service.author.publish(draft.id, AUTHOR)
