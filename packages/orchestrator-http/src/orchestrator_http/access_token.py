"""Reading one access token (RFC 7519, 9068), and from it who acts."""

import base64
import binascii
import re
from decimal import Decimal
from typing import Final

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import BusinessScope, Role, Subject
from orchestrator_http.trusted_issuer import ALGORITHMS, TrustedIssuer

TOKEN_BYTES_MAX: Final = 16 * 1024
_SUBJECT_CHARACTERS_MAX: Final = 200
_NAME_CHARACTERS_MAX: Final = 100
_COMPACT: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
# Headers by which a token would bring its own key, or ask for a reading of its own.
_REFUSED_HEADERS: Final = frozenset({"jku", "jwk", "x5u", "crit", "b64"})


class TokenRefused(Exception):
    """The token isn't believed; the message is for whoever debugs this module and reaches no client."""


@frozen(kw_only=True)
class ReadToken:
    """A token whose signature hasn't been checked: nothing in it is to be believed yet."""

    text: str
    algorithm: str
    key_id: str | None
    type: str
    issuer: str


def read_token(text: str) -> ReadToken:
    """Read what is needed to choose issuer and key; raise TokenRefused or MalformedJson."""
    if len(text) > TOKEN_BYTES_MAX or not _COMPACT.fullmatch(text):
        raise TokenRefused("form")
    header_segment, claims_segment, _ = text.split(".")
    header, claims = _object(header_segment), _object(claims_segment)
    if _REFUSED_HEADERS & header.keys():
        raise TokenRefused("header")
    key_id = header.get("kid")
    if not isinstance(key_id, str | None):
        raise TokenRefused("kid")
    return ReadToken(
        text=text,
        algorithm=_text(header.get("alg")),
        key_id=key_id,
        type=_text(header.get("typ", "")),
        issuer=_text(claims.get("iss")),
    )


def require_allowed(token: ReadToken, issuer: TrustedIssuer) -> None:
    """Raise TokenRefused unless the issuer signs with this algorithm and this type of token is an access token."""
    if token.algorithm not in issuer.algorithms or token.algorithm not in ALGORITHMS:
        raise TokenRefused("alg")
    if token.type.lower() not in [allowed.lower() for allowed in issuer.types]:
        raise TokenRefused("typ")


def actor_of(claims: JsonObject, issuer: TrustedIssuer, *, now_seconds: float, named_by_alias: bool) -> Actor:
    """Return who acts, from verified claims; raise TokenRefused for any claim that is missing, wrong or mistyped."""
    _require_issuer_and_audience(claims, issuer)
    require_valid_now(claims, now_seconds, issuer.clock_skew_seconds)
    return Actor(
        subject=_subject(claims, issuer, named_by_alias=named_by_alias),
        roles=frozenset(Role(name) for name in _names(claim_at(claims, issuer.roles_claim))),
        scopes=frozenset(BusinessScope(name) for name in _names(claim_at(claims, issuer.scopes_claim))),
        attributes=_attributes(claim_at(claims, issuer.attributes_claim)),
    )


def claim_at(claims: JsonObject, path: str) -> JsonValue:
    """Return the claim of this very name, or else the one at this path of names with dots between; None if absent."""
    if path in claims:
        return claims[path]
    found: JsonValue = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _require_issuer_and_audience(claims: JsonObject, issuer: TrustedIssuer) -> None:
    if claims.get("iss") != issuer.issuer:
        raise TokenRefused("iss")
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list) or not all(isinstance(one, str) for one in audiences):
        raise TokenRefused("aud")
    if not any(one in issuer.audiences for one in audiences):
        raise TokenRefused("aud")


def require_valid_now(claims: JsonObject, now_seconds: float, skew_seconds: float) -> None:
    """Raise TokenRefused before and after the time in which the claims hold."""
    if "exp" not in claims or _seconds(claims["exp"]) + skew_seconds <= now_seconds:
        raise TokenRefused("exp")
    for name in ("nbf", "iat"):
        if name in claims and _seconds(claims[name]) - skew_seconds > now_seconds:
            raise TokenRefused(name)


def _seconds(value: JsonValue) -> float:
    # A boolean is an int to Python, and never a time.
    if type(value) not in (int, Decimal):
        raise TokenRefused("time")
    return float(value)  # type: ignore[arg-type]


def _subject(claims: JsonObject, issuer: TrustedIssuer, *, named_by_alias: bool) -> Subject:
    subject = _text(claims.get("sub"))
    if not subject.strip() or not subject.isprintable():
        raise TokenRefused("sub")
    named = f"{issuer.alias}:{subject}" if named_by_alias else subject
    if len(named) > _SUBJECT_CHARACTERS_MAX:
        raise TokenRefused("sub")
    return Subject(named)


def _names(value: JsonValue) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise TokenRefused("names")
    return [_name(one) for one in value]


def _name(value: JsonValue) -> str:
    name = _text(value)
    if not 0 < len(name) <= _NAME_CHARACTERS_MAX or not name.isprintable():
        raise TokenRefused("name")
    return name


def _attributes(value: JsonValue) -> JsonObject:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TokenRefused("attributes")
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TokenRefused("kind")
    return value


def _object(segment: str) -> JsonObject:
    try:
        value = parse_json(base64.b64decode(segment + "=" * (-len(segment) % 4), b"-_", validate=True))
    except binascii.Error:
        raise TokenRefused("base64") from None
    if not isinstance(value, dict):
        raise TokenRefused("object")
    return value
