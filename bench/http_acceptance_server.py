"""The API as `orchestrator serve` runs it, beside an issuer whose key this process holds; says port and token as JSON."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
import uvloop
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.types import ASGIApp

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.authentication import Authentication
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_service.assembly import service as assembly
from orchestrator_service.logs import configure_logs
from orchestrator_service.serve import server_config
from orchestrator_service.settings import read_settings

_ISSUER = "https://issuer.bench"


@asynccontextmanager
async def _application(database_url: str, key: RSAKey) -> AsyncIterator[ASGIApp]:
    issuer = {"issuer": _ISSUER, "audiences": ["orchestrator"], "algorithms": ["RS256"]}
    variables = {
        "DATABASE_URL": database_url,
        "REQUEST_API_ENABLED": "true",
        "AUTH_ISSUERS": json.dumps([issuer]),
        "CURSOR_SECRETS": "only a bench knows this secret of cursors",
    }

    async def documents(url: str) -> JsonValue:
        published = {"keys": [{**key.as_dict(private=False), "kid": "bench"}]}
        discovery = {"issuer": _ISSUER, "jwks_uri": f"{_ISSUER}/jwks.json"}
        return parse_json(json.dumps(discovery if url.endswith("configuration") else published))

    trusted = TrustedIssuer(issuer=_ISSUER, audiences=("orchestrator",), algorithms=("RS256",))
    authentication = Authentication.by((trusted,), fetch=documents)
    # The issuer's documents come from memory; everything else is assembled as it always is.
    vars(assembly)["authentication_by"] = lambda _settings: authentication
    async with assembly.assembled(read_settings(variables), variables) as service:
        assert service.api is not None
        yield service.api


def _token(key: RSAKey) -> str:
    now = int(time.time())
    claims = {
        "iss": _ISSUER,
        "aud": "orchestrator",
        "sub": "clerk",
        "exp": now + 3600,
        "roles": ["CLERK"],
        "business_scopes": ["NORTH"],
    }
    return jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": "bench"}, claims, key)


async def _serve(database_url: str) -> None:
    configure_logs("INFO")
    key = RSAKey.generate_key(2048)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        async with _application(database_url, key) as application:
            print(json.dumps({"port": bound.getsockname()[1], "token": _token(key)}), flush=True)
            await uvicorn.Server(server_config(application)).serve(sockets=[bound])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(sys.argv[1]))
