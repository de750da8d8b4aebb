"""Access tokens for tests: signed with keys of our own, honestly or not, and an issuer that publishes those keys."""

import base64
import hmac
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.key_documents import DocumentUnavailable

ISSUER = "https://issuer.test"
AUDIENCE = "orchestrator"
NOW_SECONDS = 1_900_000_000
RSA_KEY = RSAKey.generate_key(2048)
OTHER_RSA_KEY = RSAKey.generate_key(2048)
EC_KEY = ECKey.generate_key("P-256")
EDWARDS_KEY = OKPKey.generate_key("Ed25519")

type SigningKey = RSAKey | ECKey | OKPKey | OctKey


def claims(**changes: Any) -> dict[str, Any]:
    """Return the claims of a good token, with changes; a change to None removes the claim."""
    good = {
        "iss": ISSUER,
        "sub": "clerk-1",
        "aud": AUDIENCE,
        "iat": NOW_SECONDS - 10,
        "exp": NOW_SECONDS + 600,
        "roles": ["CLERK"],
        "business_scopes": ["NORTH"],
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


def token(
    content: Mapping[str, Any] | str | None = None,
    *,
    key: SigningKey = RSA_KEY,
    algorithm: str = "RS256",
    header: Mapping[str, Any] | None = None,
) -> str:
    """Return a signed token; a header change to None removes that header."""
    named = {"alg": algorithm, "typ": "at+jwt", "kid": "rsa-1", **(header or {})}
    lines = {name: value for name, value in named.items() if value is not None}
    return signed_text(json.dumps(lines), _text(content), key=key, algorithm=algorithm)


def signed_text(header: str, payload: str, *, key: SigningKey = RSA_KEY, algorithm: str = "RS256") -> str:
    """Sign a header and a payload as they are written, whatever they hold."""
    signing_input = f"{_segment(header.encode())}.{_segment(payload.encode())}"
    return f"{signing_input}.{_segment(_signature(signing_input, key, algorithm))}"


def secretly_signed_text(header: str, payload: str, *, secret: bytes, digest: str) -> str:
    """Sign with a shared secret, which may be the text of a public key."""
    signing_input = f"{_segment(header.encode())}.{_segment(payload.encode())}"
    return f"{signing_input}.{_segment(hmac.digest(secret, signing_input.encode(), digest))}"


def unsigned_text(header: str, payload: str) -> str:
    return f"{_segment(header.encode())}.{_segment(payload.encode())}."


def published(key: RSAKey | ECKey | OKPKey, key_id: str | None, **members: Any) -> dict[str, Any]:
    """Return the public half of a key as a JWK Set holds it."""
    kid = {} if key_id is None else {"kid": key_id}
    return {**key.as_dict(private=False), **kid, **members}


class KeyPublisher:
    """Answer for an issuer's documents from memory, and count how often each is asked for."""

    def __init__(self, *keys: Mapping[str, Any]) -> None:
        self.keys = list(keys or (published(RSA_KEY, "rsa-1"), published(EC_KEY, "ec-1")))
        self.calls: list[str] = []
        self.down = False
        self.discovery: dict[str, Any] = {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/jwks.json"}

    async def __call__(self, url: str) -> JsonValue:
        self.calls.append(url)
        if self.down:
            raise DocumentUnavailable("The issuer is down.")
        document = self.discovery if url.endswith("openid-configuration") else {"keys": self.keys}
        return parse_json(json.dumps(document))


def _signature(signing_input: str, key: SigningKey, algorithm: str) -> bytes:
    if key is RSA_KEY and algorithm == "RS256":
        return _usual_signature(signing_input)
    return jws.JWSRegistry.algorithms[algorithm].sign(signing_input.encode(), key)


@cache  # the same few tokens are shown thousands of times, RSA takes milliseconds, and gives the same bytes each time
def _usual_signature(signing_input: str) -> bytes:
    return jws.JWSRegistry.algorithms["RS256"].sign(signing_input.encode(), RSA_KEY)


def _text(content: Mapping[str, Any] | str | None) -> str:
    return content if isinstance(content, str) else json.dumps(claims() if content is None else content)


def _segment(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
