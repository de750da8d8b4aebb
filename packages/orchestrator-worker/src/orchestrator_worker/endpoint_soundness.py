"""What the format can't say of endpoints: addresses, secrets, networks and certificates that can be used."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import cast

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_worker.catalogue_fault import CatalogueFault
from orchestrator_worker.deployment_values import (
    DeploymentValues,
    Reference,
    ValueUnavailable,
    checked_base_url,
    checked_header_value,
    is_private_way,
)
from orchestrator_worker.endpoint_reading import (
    authentication_of,
    circuit_of,
    endpoint_of,
    reference_of,
    secret_of,
)
from orchestrator_worker.route import ApiKeyHeader, Authentication, BearerToken, ClientCredentials
from orchestrator_worker.tls import tls_context, tls_material

_HEADERS_OF_THE_CLIENT = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "idempotency-key",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-correlation-id",
        "x-fencing-token",
    }
)


def endpoint_faults(
    endpoint: JsonObject, place: Pointer, values: DeploymentValues
) -> Iterator[CatalogueFault]:
    """Find references that lead nowhere, and addresses, secrets and certificates that can't be used."""
    authentication = authentication_of(cast("JsonObject", endpoint["authentication"]))
    addresses = [("baseUrl", place, reference_of(endpoint["baseUrl"]))]
    if isinstance(authentication, ClientCredentials):
        addresses.append(("tokenUrl", place.child("authentication"), authentication.token_url))
    for member, holder, address in addresses:
        yield from _address_faults(
            address, holder.child(member), values, plain_http_allowed=bool(endpoint.get("allowPlainHttp"))
        )
    yield from _authentication_faults(authentication, place.child("authentication"), values)
    networks = tuple(_network_faults(endpoint, place.child("allowedNetworks")))
    yield from networks
    if not networks and not values.are_stand_ins:
        yield from _tls_faults(endpoint, place, values)
    circuit = circuit_of(endpoint)
    if circuit.open_seconds > circuit.open_seconds_max:
        message = "The circuit can't stay open longer than its maximum."
        yield _fault(place.child("circuitBreaker"), "CIRCUIT_TIMES", message)


def _address_faults(
    address: Reference, place: Pointer, values: DeploymentValues, *, plain_http_allowed: bool
) -> Iterator[CatalogueFault]:
    try:
        url = checked_base_url(values.value_of(address))
    except ValueUnavailable as fault:
        yield _fault(place, "ADDRESS", str(fault))
    else:
        if not plain_http_allowed and not is_private_way(url):
            message = (
                "This must be an https URL, for calls could be read and answered by anybody on their way; set the "
                "endpoint's allowPlainHttp if the way is protected otherwise."
            )
            yield _fault(place, "PLAIN_HTTP", message)


def _authentication_faults(
    authentication: Authentication, place: Pointer, values: DeploymentValues
) -> Iterator[CatalogueFault]:
    secret = secret_of(authentication)
    if secret is not None:
        is_header = isinstance(authentication, BearerToken | ApiKeyHeader)
        yield from _secret_faults(secret, place.child("secret"), values, header=is_header)
    if isinstance(authentication, ApiKeyHeader) and authentication.header.lower() in _HEADERS_OF_THE_CLIENT:
        yield _fault(place.child("header"), "RESERVED_HEADER", "The client itself sets this header.")


def _secret_faults(
    secret: Reference, place: Pointer, values: DeploymentValues, *, header: bool
) -> Iterator[CatalogueFault]:
    try:
        value = values.value_of(secret)
        if header:
            checked_header_value(value)
    except ValueUnavailable as fault:
        yield _fault(place, "SECRET", str(fault))


def _network_faults(endpoint: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    for index, network in enumerate(cast("list[str]", endpoint.get("allowedNetworks", []))):
        try:
            ip_network(network)
        except ValueError:
            message = (
                "This is no network in CIDR notation whose host bits are zero, such as 10.0.0.0/8 or ::1/128."
            )
            yield _fault(place.child(index), "NETWORK", message)


def _tls_faults(endpoint: JsonObject, place: Pointer, values: DeploymentValues) -> Iterator[CatalogueFault]:
    if "clientCertificate" not in endpoint and "authorities" not in endpoint:
        return
    read = endpoint_of("", endpoint)
    try:
        tls_context(read, tls_material(read, values))
    except ValueUnavailable as fault:
        named = "clientCertificate" if "clientCertificate" in endpoint else "authorities"
        yield _fault(place.child(named), "CERTIFICATE", str(fault))


def _fault(place: Pointer, code: str, message: str) -> CatalogueFault:
    return CatalogueFault(pointer=str(place), code=code, message=message)
