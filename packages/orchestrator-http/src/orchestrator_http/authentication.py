"""From the Authorization header to the actor: bearer tokens (RFC 6750) of the trusted issuers."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from attrs import field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_http.access_token import (
    TokenRefused,
    actor_of,
    read_token,
    require_allowed,
    require_valid_now,
)
from orchestrator_http.jwks import IssuerKeys, KeyFailureReport, KeyPolicy
from orchestrator_http.key_documents import FetchDocument
from orchestrator_http.late_imports import late_claims, late_document
from orchestrator_http.refusals import AuthenticationUnavailable, NotAuthenticated
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_http.verified_tokens import VerifiedToken, VerifiedTokens

_BEARER: Final = re.compile(r"Bearer +([^ ]+)", re.IGNORECASE)
_CHALLENGE: Final = 'Bearer realm="orchestrator"'
_INVALID_TOKEN_CHALLENGE: Final = f'{_CHALLENGE}, error="invalid_token"'


@frozen(kw_only=True)
class Authentication:
    """Tell who acts, or raise NotAuthenticated without a reason that would help a forger.

    Raises AuthenticationUnavailable while the keys of the token's issuer can't be had. With several issuers a subject
    is named `<alias>:<sub>`, so that equal subjects of two issuers are two people.
    """

    _keys: Mapping[str, IssuerKeys]
    _now_seconds: Callable[[], float] = field(default=time.time)
    _verified: VerifiedTokens = field(factory=VerifiedTokens)

    @classmethod
    def by(
        cls,
        issuers: Sequence[TrustedIssuer],
        *,
        fetch: FetchDocument | None = None,
        policy: KeyPolicy | None = None,
        report: KeyFailureReport = lambda _issuer, _reason: None,
        now_seconds: Callable[[], float] = time.time,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Trust these issuers; raise ValueError for none of them, or for two with one name or one alias."""
        if not issuers:
            raise ValueError("No trusted issuer is named: without one nobody can be authenticated.")
        if len({issuer.issuer for issuer in issuers}) < len(issuers):
            raise ValueError("Two trusted issuers have the same issuer.")
        if len({issuer.alias for issuer in issuers}) < len(issuers):
            raise ValueError(
                "Two trusted issuers have the same alias: their subjects could not be told apart."
            )
        documents = fetch or late_document
        keys = {
            issuer.issuer: IssuerKeys(
                issuer=issuer,
                fetch=documents,
                policy=policy or KeyPolicy(),
                report=report,
                monotonic_seconds=monotonic_seconds,
            )
            for issuer in issuers
        }
        return cls(keys=keys, now_seconds=now_seconds)

    async def __call__(self, authorization: str | None) -> Actor:
        if authorization is None:
            raise NotAuthenticated("Send an access token: Authorization: Bearer …", challenge=_CHALLENGE)
        bearer = _BEARER.fullmatch(authorization)
        if bearer is None:
            raise NotAuthenticated("Authorization must be Bearer and one token.", challenge=_CHALLENGE)
        try:
            return await self._actor(bearer[1])
        except AuthenticationUnavailable:
            raise
        except Exception:  # noqa: BLE001 - the token library raises many types, and each of them is a refusal
            raise _refused() from None

    async def _actor(self, text: str) -> Actor:
        known = self._verified.find(text)
        if known is not None and known.is_backed_by(
            await known.keys.candidates(known.key_id, known.algorithm)
        ):
            require_valid_now(known.times, self._now_seconds(), known.keys.issuer.clock_skew_seconds)
            return known.actor
        self._verified.forget(text)
        verified = await self._verify(text)
        self._verified.remember(text, verified)
        return verified.actor

    async def _verify(self, text: str) -> VerifiedToken:
        token = read_token(text)
        keys = self._keys.get(token.issuer)
        if keys is None:
            raise TokenRefused("issuer")
        require_allowed(token, keys.issuer)
        candidates = await keys.candidates(token.key_id, token.algorithm)
        claims, key = late_claims(token, candidates)
        actor = actor_of(
            claims, keys.issuer, now_seconds=self._now_seconds(), named_by_alias=len(self._keys) > 1
        )
        return VerifiedToken(
            actor=actor,
            times={name: claims[name] for name in ("exp", "nbf", "iat") if name in claims},
            keys=keys,
            key_id=token.key_id,
            algorithm=token.algorithm,
            verified_by=key,
        )


def _refused() -> NotAuthenticated:
    return NotAuthenticated(
        "The access token isn't accepted: get a new one from your issuer.", challenge=_INVALID_TOKEN_CHALLENGE
    )
