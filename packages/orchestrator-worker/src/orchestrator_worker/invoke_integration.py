"""INVOKE_INTEGRATION: one call to the provider that the catalogue names."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from orchestrator_domain.execution.attempt import ActionResult, Refused, Unavailable
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_worker.action_types import INVOKE_INTEGRATION
from orchestrator_worker.answer_meaning import result_of
from orchestrator_worker.provider_answer import CallOutcome
from orchestrator_worker.provider_request import (
    ProviderRequest,
    UnsendableInput,
    body_of,
    headers_of,
    target_of,
)
from orchestrator_worker.route import Route


class Caller(Protocol):
    """Make one call; promise an outcome whatever the provider does."""

    async def call(self, request: ProviderRequest) -> CallOutcome: ...


class InvokeIntegration(ActionHandler):
    """Carry out an integration's contract by its route."""

    def __init__(
        self,
        *,
        route_for: Callable[[ActionContract], Route | None],
        client: Caller,
        now: Callable[[], datetime],
    ) -> None:
        self._route_for = route_for
        self._client = client
        self._now = now

    @property
    def type(self) -> str:
        return INVOKE_INTEGRATION

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:  # noqa: ARG002 - the contract holds all that the definition chose
        """Call once and say what happened; an input that can't be sent is refused before anything leaves."""
        route = self._route_for(context.contract)
        if route is None:
            return Unavailable()
        try:
            request = _request(route, context)
        except UnsendableInput:
            return Refused(error_code="INPUT_REFUSED")
        return result_of(await self._client.call(request), route, now=self._now())


def _request(route: Route, context: ActionContext) -> ProviderRequest:
    fields, contract = route.request, context.contract
    return ProviderRequest(
        endpoint=route.endpoint,
        method=fields.method,
        target=target_of(fields, inputs=context.inputs, contract=contract),
        body=body_of(fields, inputs=context.inputs, contract=contract),
        headers=headers_of(context),
        timeouts=route.timeouts,
        answer_bytes_max=route.answer_bytes_max,
        limit=route.limit,
    )
