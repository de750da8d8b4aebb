"""Read one request with its past, and explain it."""

import argparse
import asyncio
from collections.abc import Mapping
from uuid import UUID

from attrs import frozen

from orchestrator_domain.errors import FlowUnreadable, InvalidInput, NotFound
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import FlowId, RequestId, Role
from orchestrator_domain.request.request import FlowReference
from orchestrator_domain.request.standing import event_standings
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.recorded_requests import RecordedPast, recorded_past
from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.explaining.explanation import Explained, as_json, as_lines


def explain_request(chosen: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Print the explanation; raise NotFound, InvalidInput, SettingsInvalid, DatabaseUnreachable or StorageUnavailable."""
    try:
        request_id = RequestId(UUID(chosen.request))
    except ValueError:
        raise InvalidInput("The id of a request is a UUID.") from None
    roles = (
        None if chosen.roles is None else frozenset(Role(role.strip()) for role in chosen.roles.split(","))
    )
    explained = asyncio.run(_explained(chosen.database or _database_url(variables), request_id, roles))
    if chosen.format == "json":
        print(dump_json(as_json(explained, details=chosen.details)))
    else:
        print("\n".join(as_lines(explained, details=chosen.details)))
    return 0


def _database_url(variables: Mapping[str, str]) -> str:
    environment = Environment(variables)
    url = environment.database_url("DATABASE_URL", "the URL of the restricted runtime role")
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    return url


async def _explained(url: str, request_id: RequestId, roles: frozenset[Role] | None) -> Explained:
    settings = ConnectionSettings(url=url, application_name="orchestrator-explain")
    async with recorded_past(settings) as past:
        recorded = await past.request(request_id)
        if recorded is None:
            raise NotFound("There is no such request.")
        flow, flow_fault = await _flow(recorded.request.flow, past)
        active = next((each for each in recorded.executions if each.status.active), None)
        blocking = None if active is None else active.id
        return Explained(
            recorded=recorded,
            flow=flow,
            flow_fault=flow_fault,
            active=active,
            timing=None if active is None else await past.timing(active.id),
            events=()
            if flow is None
            else tuple(event_standings(recorded.request, flow, active=blocking, roles=roles)),
        )


async def _flow(reference: FlowReference, past: RecordedPast) -> tuple[ReadyFlow | None, str | None]:
    """Return the flow version as acceptance and workers of this release have it, or what they say where they don't."""
    try:
        return await FlowLibrary().ready(reference, _FlowsOfThePast(past=past)), None
    except FlowUnreadable as unreadable:
        return None, f"{unreadable.code}: {unreadable.message}"


@frozen(kw_only=True)
class _FlowsOfThePast:
    past: RecordedPast

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        return await self.past.flow(flow_id)
