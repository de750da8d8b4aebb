"""Checking a token's signature (RFC 7515)."""

from collections.abc import Sequence

from joserfc import jws
from joserfc.jwa import JWSAlgModel
from joserfc.jws import JWSRegistry

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_http.access_token import TOKEN_BYTES_MAX, ReadToken, TokenRefused
from orchestrator_http.public_keys import PublicKey
from orchestrator_http.trusted_issuer import ALGORITHMS


class _Registry(JWSRegistry):
    """Let tokens be as large as ours may be; the names of algorithms were checked before."""

    max_header_length = 8 * 1024
    max_payload_length = TOKEN_BYTES_MAX
    max_signature_length = 2 * 1024

    def get_alg(self, name: str) -> JWSAlgModel:
        # The library warns of EdDSA's old name on each use.
        if name not in ALGORITHMS or name not in (self.allowed or ()):
            raise TokenRefused("algorithm")
        return self.algorithms[name]


def verified_claims(token: ReadToken, keys: Sequence[PublicKey]) -> tuple[JsonObject, PublicKey]:
    """Return the claims, and which of the keys was found to have signed them; raise TokenRefused.

    What the library raises besides passes through: it is of many types, and none of them means success.
    """
    registry = _Registry(algorithms=[token.algorithm], strict_check_header=False)
    for key in keys:
        signed = jws.extract_compact(token.text.encode("ascii"), registry=registry)
        if jws.validate_compact(signed, key, registry=registry):
            claims = parse_json(signed.payload)
            if isinstance(claims, dict):
                return claims, key
    raise TokenRefused("signature")
