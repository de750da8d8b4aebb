"""INVOKE_INTEGRATION: one call to the provider that the catalogue names, or one question what became of it."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from orchestrator_domain.execution.attempt import ActionResult, Parked, Refused, Unavailable
from orchestrator_domain.execution.probe import Inconclusive, ProbeResult
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler, HoldsBack, ProbesEffects
from orchestrator_worker.action_types import INVOKE_INTEGRATION
from orchestrator_worker.answer_meaning import result_of
from orchestrator_worker.effect_probe import probe_request, probe_result_of
from orchestrator_worker.provider_answer import CallOutcome, HeldBack
from orchestrator_worker.provider_request import (
    ProviderRequest,
    UnsendableInput,
    body_of,
    headers_of,
    target_of,
)
from orchestrator_worker.route import Endpoint, Route


class Caller(Protocol):
    """Make one call; promise an outcome whatever the provider does."""

    async def call(self, request: ProviderRequest) -> CallOutcome: ...


def never_kept_away(_endpoint: Endpoint) -> HeldBack | None:
    """Keep no call away: for calls that no circuit guards."""
    return None


class InvokeIntegration(ActionHandler, HoldsBack, ProbesEffects):
    """Carry out an integration's contract by its route."""

    def __init__(
        self,
        *,
        route_for: Callable[[ActionContract], Route | None],
        client: Caller,
        now: Callable[[], datetime],
        kept_away: Callable[[Endpoint], HeldBack | None] = never_kept_away,
    ) -> None:
        self._route_for = route_for
        self._client = client
        self._now = now
        self._kept_away = kept_away

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

    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:  # noqa: ARG002 - as above
        """Say that the endpoint's circuit is open, if it is."""
        route = self._route_for(context.contract)
        held = None if route is None else self._kept_away(route.endpoint)
        if held is None:
            return None
        return Parked(error_code=held.reason.value, retry_after_seconds=held.retry_after_seconds)

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:  # noqa: ARG002 - as above
        """Ask the provider once about the call under the context's key."""
        route = self._route_for(context.contract)
        if route is None or route.probe is None:
            return Inconclusive(error_code="INTEGRATION_UNAVAILABLE")
        try:
            request = probe_request(route, route.probe, context)
        except UnsendableInput:
            return Inconclusive(error_code="INPUT_REFUSED")
        outcome = await self._client.call(request)
        return probe_result_of(outcome, route, route.probe, key=context.external_key, now=self._now())


def _request(route: Route, context: ActionContext) -> ProviderRequest:
    fields = route.request
    return ProviderRequest(
        endpoint=route.endpoint,
        method=fields.method,
        target=target_of(fields, context),
        body=body_of(fields, context),
        headers=headers_of(context),
        timeouts=route.timeouts,
        answer_bytes_max=route.answer_bytes_max,
        limit=route.limit,
    )
