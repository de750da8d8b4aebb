"""Access tokens by client credentials (RFC 6749, section 4.4), kept until shortly before they expire."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from decimal import Decimal
from urllib.parse import quote_plus, urlencode

import httpx2
from attrs import define, field, frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_worker.deployment_values import (
    DeploymentValues,
    ValueUnavailable,
    checked_base_url,
    checked_header_value,
)
from orchestrator_worker.provider_answer import Answer, Json
from orchestrator_worker.provider_exchange import OFFERED
from orchestrator_worker.route import ClientAuthentication, ClientCredentials

TOKEN_ANSWER_BYTES_MAX = 65_536
_LIFETIME_UNSAID_SECONDS = 300.0
_LIFETIME_MAX_SECONDS = 86_400.0
_MARGIN_SHARE, _MARGIN_MAX_SECONDS = 0.2, 60.0
_REFUSALS = frozenset({400, 401, 403})


class SignInRefused(Exception):
    """The authorization server won't hand out a token to this client."""


class SignInFailed(Exception):
    """No token could be had this time; another attempt may have one."""


@frozen(kw_only=True)
class AccessToken:
    """A token and the moment from which it isn't used any more; `is_fresh` says that it was fetched just now."""

    value: str = field(repr=False)
    use_until: float
    is_fresh: bool = False


type Exchange = Callable[[httpx2.Request], Awaitable[Answer]]
"""Send one request to the authorization server and read its answer."""


@define
class _Shelf:
    token: AccessToken | None = None
    fetching: asyncio.Lock = field(factory=asyncio.Lock)


class AccessTokens:
    """Hold one token per endpoint. Callers that need a new one at the same time wait for one fetch."""

    def __init__(self, *, values: DeploymentValues, clock: Callable[[], float]) -> None:
        self._values = values
        self._clock = clock
        self._shelves: dict[str, _Shelf] = {}

    async def token(self, endpoint: str, credentials: ClientCredentials, exchange: Exchange) -> AccessToken:
        """Return a token that is good for a while yet.

        Raises SignInRefused, SignInFailed, ValueUnavailable, and what the exchange raises.
        """
        shelf = self._shelves.setdefault(endpoint, _Shelf())
        async with shelf.fetching:
            kept = shelf.token
            if kept is not None and self._clock() < kept.use_until:
                return kept
            answer = await exchange(_token_request(credentials, self._values))
            fetched = _token_of(answer, self._clock())
            shelf.token = AccessToken(value=fetched.value, use_until=fetched.use_until)
            return fetched

    def drop(self, endpoint: str, token: AccessToken) -> None:
        """Forget a token that was refused, unless another one has taken its place."""
        shelf = self._shelves.get(endpoint)
        if shelf is not None and shelf.token is not None and shelf.token.value == token.value:
            shelf.token = None


def _token_request(credentials: ClientCredentials, values: DeploymentValues) -> httpx2.Request:
    secret = values.value_of(credentials.secret)
    form = {"grant_type": "client_credentials"}
    headers = {**OFFERED, "Content-Type": "application/x-www-form-urlencoded"}
    if credentials.scope is not None:
        form["scope"] = credentials.scope
    if credentials.client_authentication is ClientAuthentication.BODY:
        form |= {"client_id": credentials.client_id, "client_secret": secret}
    else:
        pair = f"{quote_plus(credentials.client_id)}:{quote_plus(secret)}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    url = values.value_of(credentials.token_url)
    checked_base_url(url)
    try:
        return httpx2.Request("POST", url, headers=headers, content=urlencode(form).encode())
    except (httpx2.InvalidURL, ValueError):
        raise ValueUnavailable("The token URL can't be called.") from None


def _token_of(answer: Answer, now: float) -> AccessToken:
    if answer.status in _REFUSALS:
        raise SignInRefused
    if answer.status != 200 or not isinstance(answer.body, Json) or not isinstance(answer.body.value, dict):
        raise SignInFailed
    granted = answer.body.value
    value, kind = granted.get("access_token"), granted.get("token_type")
    if not isinstance(value, str) or not value or str(kind).lower() != "bearer":
        raise SignInFailed
    try:
        checked_header_value(value)
    except ValueUnavailable:
        raise SignInFailed from None
    lifetime = _lifetime_of(granted)
    margin = min(lifetime * _MARGIN_SHARE, _MARGIN_MAX_SECONDS)
    return AccessToken(value=value, use_until=now + lifetime - margin, is_fresh=True)


def _lifetime_of(granted: JsonObject) -> float:
    """Return how long the token lasts by its server, within bounds; what is no number of seconds says nothing."""
    said = granted.get("expires_in", None)
    if isinstance(said, bool) or not isinstance(said, (int, Decimal)):
        return _LIFETIME_UNSAID_SECONDS
    return float(min(max(said, 0), int(_LIFETIME_MAX_SECONDS)))
