"""An issuer's public keys: kept, rotated, and served a while when the issuer is down."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from orchestrator_http.key_documents import DocumentUnavailable, FetchDocument, key_set_document
from orchestrator_http.late_imports import late_keys
from orchestrator_http.refusals import AuthenticationUnavailable
from orchestrator_http.trusted_issuer import TrustedIssuer

if TYPE_CHECKING:
    from orchestrator_http.public_keys import PublicKey, PublishedKey


@frozen(kw_only=True)
class KeyPolicy:
    """How long keys are kept, in seconds.

    Keys older than `refresh_seconds` are fetched anew beside the requests that use them; older than
    `stale_seconds_max` they are used no more. Two fetches begin at least `cooldown_seconds` apart.
    """

    refresh_seconds: float = 300.0
    cooldown_seconds: float = 10.0
    stale_seconds_max: float = 86_400.0


type KeyFailureReport = Callable[[TrustedIssuer, str], None]


@define(kw_only=True)
class IssuerKeys:
    """The keys of one issuer.

    Promises: whatever tokens say, fetches begin at most once in a cooldown, and all who wait share one. A key that is
    known answers without waiting, also while the issuer is down. `report` is told each failed fetch.
    """

    issuer: TrustedIssuer
    fetch: FetchDocument
    policy: KeyPolicy = field(factory=KeyPolicy)
    report: KeyFailureReport = lambda _issuer, _reason: None
    monotonic_seconds: Callable[[], float] = time.monotonic
    _keys: "tuple[PublishedKey, ...]" = field(default=(), init=False)
    _fetched_at: float | None = field(default=None, init=False)
    _begun_at: float | None = field(default=None, init=False)
    _fetching: asyncio.Task[None] | None = field(default=None, init=False)

    async def candidates(self, key_id: str | None, algorithm: str) -> "tuple[PublicKey, ...]":
        """Return the keys that may have made a signature; none for an unknown key.

        A token without key id is checked by the only key that suits its algorithm, if there is only one.
        Raises AuthenticationUnavailable if the issuer has no keys that are young enough.
        """
        found = self._known(key_id, algorithm)
        if not found:
            await self._refresh()
            found = self._known(key_id, algorithm)
        elif self._age_seconds() >= self.policy.refresh_seconds:
            self._begin_refresh()
        if not found and self._age_seconds() >= self.policy.stale_seconds_max:
            raise AuthenticationUnavailable("The issuer's keys can't be read now; try again later.")
        return found

    def _known(self, key_id: str | None, algorithm: str) -> "tuple[PublicKey, ...]":
        if self._age_seconds() >= self.policy.stale_seconds_max:
            return ()
        suitable = [published for published in self._keys if published.suits(algorithm)]
        if key_id is None:
            return (suitable[0].key,) if len(suitable) == 1 else ()
        return tuple(published.key for published in suitable if published.key_id == key_id)

    def _age_seconds(self) -> float:
        return float("inf") if self._fetched_at is None else self.monotonic_seconds() - self._fetched_at

    async def _refresh(self) -> None:
        task = self._begin_refresh()
        if task is not None:
            # Shielded, for whoever waits first may leave first.
            await asyncio.shield(task)

    def _begin_refresh(self) -> asyncio.Task[None] | None:
        if self._fetching is not None:
            return self._fetching
        now = self.monotonic_seconds()
        if self._begun_at is not None and now - self._begun_at < self.policy.cooldown_seconds:
            return None
        self._begun_at = now
        self._fetching = asyncio.create_task(self._fetch_keys())
        return self._fetching

    async def _fetch_keys(self) -> None:
        begun_at = self.monotonic_seconds()
        try:
            keys = await late_keys(await key_set_document(self.issuer, self.fetch))
            if not keys:
                self.report(self.issuer, "The key set holds no usable key.")
                return
            self._keys, self._fetched_at = keys, begun_at
        except DocumentUnavailable as fault:
            self.report(self.issuer, str(fault))
        except Exception as fault:  # noqa: BLE001 - however a fetch fails, the keys stay as they are
            self.report(self.issuer, f"The key set can't be read ({type(fault).__name__}).")
        finally:
            self._fetching = None
