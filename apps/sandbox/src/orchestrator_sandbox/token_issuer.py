"""Issue access tokens for the sandbox, with discovery and keys as an identity provider publishes them.

Anybody who reaches it gets any token: it listens on loopback and no production image contains it.
"""

import argparse
import asyncio
import time
import uuid
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from orchestrator_domain.exact_json.text import MalformedJson
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.checked_document import DocumentRefused, checked_document, document_schema
from orchestrator_sandbox.listening import listening_socket, serve_application, url_of
from orchestrator_sandbox.signing_keys import ALGORITHMS, SigningKeys

DEFAULT_AUDIENCE = "orchestrator"
BODY_BYTES_MAX = 64 * 1024
DAY_SECONDS = 86_400

_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 100}
_TOKEN_ORDER = document_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "subject": {"type": "string", "minLength": 1, "maxLength": 200},
            "roles": _NAMES,
            "scopes": _NAMES,
            "attributes": {"type": "object"},
            "audience": {"type": "string", "minLength": 1},
            # A negative lifetime makes a token that has expired already.
            "expires_in": {"type": "integer", "minimum": -DAY_SECONDS, "maximum": DAY_SECONDS},
            "algorithm": {"enum": list(ALGORITHMS)},
        },
    }
)
_ROTATION = document_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {"keepPrevious": {"type": "boolean"}},
    }
)


class BodyTooLarge(ValueError):
    """A body is longer than the issuer reads."""


class TokenIssuer:
    """The issuer: its name, the audience it writes by default, and its keys."""

    def __init__(
        self, *, issuer: str, audience: str = DEFAULT_AUDIENCE, state_directory: Path | None = None
    ) -> None:
        self.issuer = issuer
        self._audience = audience
        self._state_directory = state_directory
        self._keys = SigningKeys.kept_in(state_directory) if state_directory else SigningKeys.generated()

    def application(self) -> Starlette:
        """Return the ASGI application with the issuer's endpoints."""
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery, methods=["GET"]),
                Route("/jwks.json", self._key_set, methods=["GET"]),
                Route("/token", self._token, methods=["POST"]),
                Route("/rotate", self._rotation, methods=["POST"]),
            ],
            exception_handlers={DocumentRefused: _refusal, MalformedJson: _refusal, BodyTooLarge: _too_large},
        )

    def token(self, order: dict[str, Any]) -> str:
        """Return a signed token for an order, as `POST /token` takes it."""
        now = int(time.time())
        lifetime_seconds = int(order.get("expires_in", 3600))
        # An expired token was valid once: its beginning lies before its end.
        issued = now + min(0, lifetime_seconds - 60)
        claims: JsonObject = {
            "iss": self.issuer,
            "sub": order.get("subject", "analista-1"),
            "aud": order.get("audience", self._audience),
            "iat": issued,
            "nbf": issued,
            "exp": now + lifetime_seconds,
            "jti": str(uuid.uuid4()),
            "roles": order.get("roles", ["ANALISTA"]),
            "business_scopes": order.get("scopes", ["SUCURSAL-1"]),
            "attributes": order.get("attributes", {}),
        }
        return self._keys.signed(order.get("algorithm", "RS256"), claims)

    def rotate(self, *, keep_previous: bool) -> None:
        """Sign with new keys from now on; the previous ones stay published if they are kept."""
        previous = tuple(self._keys.current.values()) if keep_previous else ()
        self._keys = self._keys.rotated(retired=previous)
        if self._state_directory:
            self._keys.save(self._state_directory)

    async def _discovery(self, _request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/jwks.json",
                "token_endpoint": f"{self.issuer}/token",
                "response_types_supported": ["token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": list(ALGORITHMS),
            }
        )

    async def _key_set(self, _request: Request) -> JSONResponse:
        return JSONResponse(self._keys.published())

    async def _token(self, request: Request) -> JSONResponse:
        order = checked_document(await _bounded_body(request), _TOKEN_ORDER)
        return JSONResponse(
            {
                "access_token": self.token(order),
                "token_type": "Bearer",
                "expires_in": int(order.get("expires_in", 3600)),
            },
            headers={"Cache-Control": "no-store"},
        )

    async def _rotation(self, request: Request) -> JSONResponse:
        order = checked_document(await _bounded_body(request), _ROTATION)
        self.rotate(keep_previous=order.get("keepPrevious", True))
        return JSONResponse(self._keys.published())


async def _bounded_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise BodyTooLarge
    return bytes(body)


async def _refusal(_request: Request, error: Exception) -> JSONResponse:
    refusal = {"error": "invalid_request", "error_description": str(error)}
    if isinstance(error, DocumentRefused):
        refusal["pointer"] = error.pointer
    return JSONResponse(refusal, status_code=400)


async def _too_large(_request: Request, _error: Exception) -> JSONResponse:
    description = f"The body is larger than {BODY_BYTES_MAX} bytes: send less."
    refusal = {"error": "invalid_request", "error_description": description}
    return JSONResponse(refusal, status_code=413, headers={"Connection": "close"})


def main() -> None:
    """Serve an issuer until SIGTERM or SIGINT, after one line of JSON on stdout that names its URL."""
    parser = argparse.ArgumentParser(
        prog="python -m orchestrator_sandbox.token_issuer", description=main.__doc__
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--audience", default=DEFAULT_AUDIENCE)
    parser.add_argument("--state-dir", type=Path, help="keep the keys here across restarts")
    options = parser.parse_args()
    listener = listening_socket(options.host, options.port)
    issuer = TokenIssuer(
        issuer=url_of(listener), audience=options.audience, state_directory=options.state_dir
    )
    asyncio.run(serve_application(issuer.application(), listener))


if __name__ == "__main__":
    main()
