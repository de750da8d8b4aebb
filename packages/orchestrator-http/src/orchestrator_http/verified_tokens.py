"""Tokens whose signature was found good, so that a front end that asks again and again pays for it once.

A token is remembered by its SHA-256, never by its text. What is remembered is believed only as long as the very key
that verified it is still among its issuer's keys, and the times in the token are looked at on every use.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_http.jwks import IssuerKeys

if TYPE_CHECKING:
    from orchestrator_http.public_keys import PublicKey

KEPT_MAX = 10_000


@frozen(kw_only=True)
class VerifiedToken:
    """Who acts with a token, and what has to be looked at again at each use."""

    actor: Actor
    times: JsonObject
    keys: IssuerKeys
    key_id: str | None
    algorithm: str
    verified_by: "PublicKey"

    def is_backed_by(self, keys: "Sequence[PublicKey]") -> bool:
        """Say whether the key that verified the token is among these; an equal one that was read later is not."""
        return any(key is self.verified_by for key in keys)


@define(kw_only=True)
class VerifiedTokens:
    """Remember at most `kept_max` tokens; the one that was used longest ago leaves first.

    Only verified tokens get in, so nobody without an issuer's key can push others out.
    """

    kept_max: int = KEPT_MAX
    _kept: dict[bytes, VerifiedToken] = field(factory=dict, init=False, repr=False)

    def find(self, text: str) -> VerifiedToken | None:
        digest = _digest(text)
        found = self._kept.pop(digest, None)
        if found is not None:
            self._kept[digest] = found
        return found

    def remember(self, text: str, token: VerifiedToken) -> None:
        self._kept[_digest(text)] = token
        if len(self._kept) > self.kept_max:
            del self._kept[next(iter(self._kept))]

    def forget(self, text: str) -> None:
        self._kept.pop(_digest(text), None)

    def __len__(self) -> int:
        return len(self._kept)


def _digest(text: str) -> bytes:
    return sha256(text.encode("ascii")).digest()
