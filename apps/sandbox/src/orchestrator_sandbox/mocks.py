"""`orchestrator-sandbox mocks`: the token issuer and the provider doubles in one process, as a container runs them.

Anybody who reaches them gets any token and any answer: they are published on loopback only.
"""

import asyncio
import socket

from attrs import frozen

from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.listening import listening_socket, serve_application, url_of
from orchestrator_sandbox.providers.server import ProviderServer
from orchestrator_sandbox.token_issuer import TokenIssuer


@frozen(kw_only=True)
class MocksPlan:
    """Where to listen; `issuer` is the name in the tokens, which needs to be no address that anybody can reach."""

    host: str
    issuer_port: int
    providers_port: int
    issuer: str | None


def serve_mocks(plan: MocksPlan) -> int:
    """Serve both until SIGTERM or SIGINT, after one line of JSON on stdout that names their URLs; return 0."""
    issuer, providers = _listener(plan.host, plan.issuer_port), _listener(plan.host, plan.providers_port)
    asyncio.run(_serve(plan.issuer or url_of(issuer), issuer, providers))
    return 0


def _listener(host: str, port: int) -> socket.socket:
    try:
        return listening_socket(host, port)
    except OSError as error:
        raise SandboxFailure(f"Can't listen on port {port} of {host}: {error.strerror}.") from None


async def _serve(name: str, issuer: socket.socket, providers: socket.socket) -> None:
    announced = {"issuer": name, "issuerUrl": url_of(issuer), "providersUrl": url_of(providers)}
    async with ProviderServer(providers):
        await serve_application(TokenIssuer(issuer=name).application(), issuer, announced=announced)
