"""Endpoints of a catalogue, whose format has been checked, as typed values."""

from pathlib import Path
from typing import cast

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_worker.deployment_values import FromEnvironment, FromFile, Reference, WrittenOut
from orchestrator_worker.route import (
    ApiKeyHeader,
    Authentication,
    BasicCredentials,
    BearerToken,
    Endpoint,
    NoAuthentication,
)


def endpoint_of(name: str, endpoint: JsonObject) -> Endpoint:
    return Endpoint(
        name=name,
        base_url=reference_of(endpoint["baseUrl"]),
        authentication=authentication_of(cast("JsonObject", endpoint["authentication"])),
        connections_max=int(cast("int", endpoint.get("connectionsMax", 20))),
    )


def reference_of(reference: JsonValue) -> Reference:
    match reference:
        case {"env": str(variable)}:
            return FromEnvironment(variable=variable)
        case {"file": str(path)}:
            return FromFile(path=Path(path))
        case _:
            return WrittenOut(value=cast("str", reference))


def authentication_of(authentication: JsonObject) -> Authentication:
    match authentication["kind"]:
        case "bearer":
            return BearerToken(secret=reference_of(authentication["secret"]))
        case "basic":
            return BasicCredentials(
                username=str(authentication["username"]), secret=reference_of(authentication["secret"])
            )
        case "apiKeyHeader":
            return ApiKeyHeader(
                header=str(authentication["header"]), secret=reference_of(authentication["secret"])
            )
        case _:
            return NoAuthentication()


def secret_of(authentication: Authentication) -> Reference | None:
    match authentication:
        case NoAuthentication():
            return None
        case BearerToken() | BasicCredentials() | ApiKeyHeader():
            return authentication.secret
