"""Endpoints of a catalogue, whose format has been checked, as typed values."""

from ipaddress import ip_network
from pathlib import Path
from typing import cast

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_worker.circuit_breaker import CircuitSettings
from orchestrator_worker.deployment_values import FromEnvironment, FromFile, Reference, WrittenOut
from orchestrator_worker.route import (
    ApiKeyHeader,
    Authentication,
    BasicCredentials,
    BearerToken,
    ClientAuthentication,
    ClientCertificate,
    ClientCredentials,
    Endpoint,
    NoAuthentication,
)


def endpoint_of(name: str, endpoint: JsonObject) -> Endpoint:
    return Endpoint(
        name=name,
        base_url=reference_of(endpoint["baseUrl"]),
        authentication=authentication_of(cast("JsonObject", endpoint["authentication"])),
        connections_max=int(cast("int", endpoint.get("connectionsMax", 20))),
        networks=tuple(ip_network(str(network)) for network in _listed(endpoint.get("allowedNetworks"))),
        client_certificate=_client_certificate_of(endpoint.get("clientCertificate")),
        authorities=reference_of(endpoint["authorities"]) if "authorities" in endpoint else None,
        allow_plain_http=endpoint.get("allowPlainHttp") is True,
        circuit=circuit_of(endpoint),
    )


def circuit_of(endpoint: JsonObject) -> CircuitSettings:
    written = cast("JsonObject", endpoint.get("circuitBreaker", {}))
    return CircuitSettings(
        failures_to_open=int(cast("int", written.get("failuresToOpen", 10))),
        open_seconds=float(cast("int", written.get("openSeconds", 30))),
        open_seconds_max=float(cast("int", written.get("openMaxSeconds", 300))),
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
        case "oauth2ClientCredentials":
            return _client_credentials_of(authentication)
        case _:
            return NoAuthentication()


def _client_credentials_of(authentication: JsonObject) -> ClientCredentials:
    scope = authentication.get("scope")
    return ClientCredentials(
        token_url=reference_of(authentication["tokenUrl"]),
        client_id=str(authentication["clientId"]),
        secret=reference_of(authentication["secret"]),
        scope=None if scope is None else str(scope),
        client_authentication=ClientAuthentication(str(authentication.get("clientAuthentication", "basic"))),
    )


def _client_certificate_of(written: JsonValue) -> ClientCertificate | None:
    match written:
        case {"certificate": {"file": str(certificate)}, "key": {"file": str(key)}}:
            return ClientCertificate(
                certificate=FromFile(path=Path(certificate)), key=FromFile(path=Path(key))
            )
        case _:
            return None


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def secret_of(authentication: Authentication) -> Reference | None:
    match authentication:
        case NoAuthentication():
            return None
        case BearerToken() | BasicCredentials() | ApiKeyHeader() | ClientCredentials():
            return authentication.secret
