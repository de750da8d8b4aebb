"""Read one request with its past, and explain it."""

import argparse
import asyncio
from collections.abc import Mapping
from uuid import UUID

from orchestrator_domain.errors import FlowUnreadable, InvalidInput, NotFound
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.flow.ready import ready_flow
from orchestrator_domain.identifiers import RequestId, Role
from orchestrator_domain.request.standing import event_standings
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.recorded_requests import recorded_past
from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.explaining.explanation import Explained, as_json, as_lines


def explain_request(chosen: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Print the explanation; raise NotFound, InvalidInput, SettingsInvalid or StorageUnavailable."""
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
        stored = await past.flow(recorded.request.flow.id)
        if stored is None:
            raise FlowUnreadable("The request's flow version is missing.")
        flow = ready_flow(stored)
        active = next((each for each in recorded.executions if each.status.active), None)
        standings = event_standings(
            recorded.request, flow, active=None if active is None else active.id, roles=roles
        )
        return Explained(
            recorded=recorded,
            flow=flow,
            active=active,
            timing=None if active is None else await past.timing(active.id),
            events=tuple(standings),
        )
