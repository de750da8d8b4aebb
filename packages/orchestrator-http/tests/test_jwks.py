"""Keys are fetched seldom, rotated when needed, and served a while when their issuer is down."""

import asyncio
from typing import Any

import pytest
from tests.plugins.token_desk import EC_KEY, ISSUER, OTHER_RSA_KEY, RSA_KEY, KeyPublisher, published

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.jwks import IssuerKeys, KeyPolicy
from orchestrator_http.key_documents import DocumentUnavailable, key_set_document
from orchestrator_http.refusals import AuthenticationUnavailable
from orchestrator_http.trusted_issuer import TrustedIssuer

POLICY = KeyPolicy(refresh_seconds=300, cooldown_seconds=30, stale_seconds_max=3600)


class Desk:
    """One issuer's keys, with a publisher and a clock in the test's hands."""

    def __init__(self, fetch: Any = None, *, jwks_url: str | None = f"{ISSUER}/jwks.json") -> None:
        self.publisher = KeyPublisher()
        self.seconds = 1000.0
        self.reports: list[str] = []
        self.keys = IssuerKeys(
            issuer=TrustedIssuer(
                issuer=ISSUER, audiences=("a",), algorithms=("RS256", "ES256"), jwks_url=jwks_url
            ),
            fetch=fetch or self.publisher,
            policy=POLICY,
            report=lambda _issuer, reason: self.reports.append(reason),
            monotonic_seconds=lambda: self.seconds,
        )

    async def knows(self, key_id: str, algorithm: str = "RS256") -> bool:
        return bool(await self.keys.candidates(key_id, algorithm))

    @property
    def fetches(self) -> int:
        return len(self.publisher.calls)


class Held:
    """A fetch that begins when it is asked for and ends when the test lets it."""

    def __init__(self) -> None:
        self.begun = 0
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, url: str) -> JsonValue:
        self.begun += 1
        self.asked.set()
        await self.let_go.wait()
        return await KeyPublisher()(url)


async def test_known_keys_are_fetched_once() -> None:
    desk = Desk()
    assert await desk.knows("rsa-1")
    assert await desk.knows("ec-1", "ES256")
    assert desk.fetches == 1


async def test_a_flood_of_unknown_keys_causes_one_fetch_in_a_cooldown() -> None:
    desk = Desk()
    for number in range(200):
        assert not await desk.knows(f"made-up-{number}")
    assert desk.fetches == 1
    desk.seconds += 29.9
    assert not await desk.knows("made-up")
    assert desk.fetches == 1
    desk.seconds += 0.1
    assert not await desk.knows("made-up")
    assert desk.fetches == 2


async def test_all_who_wait_share_one_fetch() -> None:
    held = Held()
    desk = Desk(held)
    waiting = [asyncio.create_task(desk.knows("rsa-1")) for _ in range(20)]
    await held.asked.wait()
    held.let_go.set()
    assert await asyncio.gather(*waiting) == [True] * 20
    assert held.begun == 1


async def test_whoever_waits_first_may_leave_without_taking_the_keys_from_the_others() -> None:
    held = Held()
    desk = Desk(held)
    first = asyncio.create_task(desk.knows("rsa-1"))
    await held.asked.wait()
    second = asyncio.create_task(desk.knows("rsa-1"))
    first.cancel()
    held.let_go.set()
    assert await second
    assert first.cancelled()


async def test_a_rotated_key_is_found_after_the_cooldown_and_the_old_one_leaves() -> None:
    desk = Desk()
    assert await desk.knows("rsa-1")
    desk.publisher.keys = [published(OTHER_RSA_KEY, "rsa-2")]
    desk.seconds += 30
    assert await desk.knows("rsa-2")
    assert not await desk.knows("rsa-1")


async def test_old_keys_answer_at_once_and_are_fetched_anew_beside() -> None:
    desk = Desk()
    assert await desk.knows("rsa-1")
    desk.publisher.keys = [published(OTHER_RSA_KEY, "rsa-2")]
    desk.seconds += 300
    assert await desk.knows("rsa-1")
    await asyncio.sleep(0)
    assert await desk.knows("rsa-2")
    assert desk.fetches == 2


async def test_stale_keys_serve_while_the_issuer_is_down_up_to_a_hard_limit() -> None:
    desk = Desk()
    assert await desk.knows("rsa-1")
    desk.publisher.down = True
    desk.seconds += 3599
    assert await desk.knows("rsa-1")
    await asyncio.sleep(0)
    desk.seconds += 1
    with pytest.raises(AuthenticationUnavailable):
        await desk.knows("rsa-1")
    desk.publisher.down = False
    desk.seconds += 30
    assert await desk.knows("rsa-1")
    assert desk.reports == ["The issuer is down."]


async def test_without_any_key_ever_read_no_token_can_be_judged() -> None:
    desk = Desk()
    desk.publisher.down = True
    for _ in range(50):
        with pytest.raises(AuthenticationUnavailable):
            await desk.knows("rsa-1")
    assert desk.fetches == 1


@pytest.mark.parametrize(
    "keys", [[], [{"kty": "oct", "k": "c2VjcmV0", "kid": "rsa-1"}], [7], [{"kty": "RSA"}]]
)
async def test_a_set_without_a_usable_key_never_replaces_one_that_has_some(keys: list[Any]) -> None:
    desk = Desk()
    assert await desk.knows("rsa-1")
    desk.publisher.keys = keys
    desk.seconds += 30
    assert not await desk.knows("unknown")
    assert await desk.knows("rsa-1")
    assert desk.reports == ["The key set holds no usable key."]


async def test_a_fetch_that_breaks_is_reported_and_leaves_the_keys() -> None:
    async def broken(_url: str) -> JsonValue:
        raise OSError("no route to 10.0.0.1")

    desk = Desk(broken)
    with pytest.raises(AuthenticationUnavailable):
        await desk.knows("rsa-1")
    assert desk.reports == ["The key set can't be read (OSError)."]


async def test_two_keys_of_one_name_are_told_apart_by_their_algorithm() -> None:
    desk = Desk()
    desk.publisher.keys = [published(RSA_KEY, "same"), published(EC_KEY, "same")]
    assert len(await desk.keys.candidates("same", "RS256")) == 1
    assert len(await desk.keys.candidates("same", "ES256")) == 1


async def test_the_key_set_is_discovered_when_its_url_is_not_configured() -> None:
    desk = Desk(jwks_url=None)
    assert await desk.knows("rsa-1")
    assert desk.publisher.calls == [f"{ISSUER}/.well-known/openid-configuration", f"{ISSUER}/jwks.json"]


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.test", "jwks_uri": f"{ISSUER}/jwks.json"},
        {"issuer": ISSUER},
        {"issuer": ISSUER, "jwks_uri": "http://issuer.test/jwks.json"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"},
        {"issuer": ISSUER, "jwks_uri": "https://issuer.test\\@evil.test/"},
        {"issuer": ISSUER, "jwks_uri": 7},
    ],
)
async def test_a_discovery_document_that_leads_elsewhere_is_not_followed(discovery: dict[str, Any]) -> None:
    desk = Desk(jwks_url=None)
    desk.publisher.discovery = discovery
    with pytest.raises(AuthenticationUnavailable):
        await desk.knows("rsa-1")
    assert desk.fetches == 1


async def test_an_issuer_on_this_machine_does_not_lead_to_plain_http_on_another() -> None:
    issuer = TrustedIssuer(issuer="http://127.0.0.1:8081", audiences=("a",), algorithms=("RS256",))
    asked: list[str] = []

    async def fetch(url: str) -> JsonValue:
        asked.append(url)
        return {"issuer": issuer.issuer, "jwks_uri": "http://issuer.test/jwks.json", "keys": []}

    with pytest.raises(DocumentUnavailable):
        await key_set_document(issuer, fetch)
    assert asked == ["http://127.0.0.1:8081/.well-known/openid-configuration"]
