"""A token that was verified once is believed again only while everything that made it good still holds."""

import pytest
from joserfc.jwk import RSAKey
from tests.plugins.token_desk import (
    AUDIENCE,
    ISSUER,
    NOW_SECONDS,
    OTHER_RSA_KEY,
    RSA_KEY,
    KeyPublisher,
    claims,
    published,
    token,
)

import orchestrator_http.authentication
from orchestrator_http.authentication import Authentication
from orchestrator_http.jwks import KeyPolicy
from orchestrator_http.late_imports import late_claims
from orchestrator_http.refusals import NotAuthenticated
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_http.verified_tokens import VerifiedTokens


class Desk:
    """An authentication whose clocks and issuer a test moves, and which counts signature checks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.monotonic, self.checks = float(NOW_SECONDS), 1000.0, 0
        self.publisher = KeyPublisher(published(RSA_KEY, "rsa-1"))
        self.authentication = Authentication.by(
            (TrustedIssuer(issuer=ISSUER, audiences=(AUDIENCE,), algorithms=("RS256",), jwks_url=ISSUER),),
            fetch=self.publisher,
            policy=KeyPolicy(),
            now_seconds=lambda: self.now,
            monotonic_seconds=lambda: self.monotonic,
        )
        checked = late_claims

        def counted(*arguments: object) -> object:
            self.checks += 1
            return checked(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(orchestrator_http.authentication, "late_claims", counted)

    async def subject(self, text: str) -> str:
        return (await self.authentication(f"Bearer {text}")).subject

    async def refuses(self, text: str) -> None:
        with pytest.raises(NotAuthenticated):
            await self.subject(text)

    async def rotate(self, *keys: tuple[RSAKey, str]) -> None:
        """Publish other keys, and let a token with an unknown key id fetch them."""
        self.publisher.keys = [published(key, name) for key, name in keys]
        self.monotonic += 100_000
        await self.refuses(token(header={"kid": "unknown"}))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


async def test_a_signature_is_checked_once_for_many_uses_of_a_token(desk: Desk) -> None:
    good = token()
    assert [await desk.subject(good) for _ in range(5)] == ["clerk-1"] * 5
    assert desk.checks == 1
    assert await desk.subject(token(claims(sub="clerk-2"))) == "clerk-2"
    assert desk.checks == 2


async def test_a_remembered_token_expires_like_any_other(desk: Desk) -> None:
    good = token(claims(exp=NOW_SECONDS + 60))
    await desk.subject(good)
    desk.now += 89
    await desk.subject(good)
    desk.now += 1
    await desk.refuses(good)
    assert desk.checks == 1


async def test_a_remembered_token_ends_with_the_key_that_verified_it(desk: Desk) -> None:
    good = token()
    await desk.subject(good)
    await desk.rotate((OTHER_RSA_KEY, "rsa-2"))
    await desk.refuses(good)


async def test_a_token_is_verified_anew_by_a_key_that_took_over_its_key_id(desk: Desk) -> None:
    good = token()
    await desk.subject(good)
    await desk.rotate((OTHER_RSA_KEY, "rsa-1"))
    await desk.refuses(good)
    await desk.rotate((RSA_KEY, "rsa-1"))
    assert await desk.subject(good) == "clerk-1"


async def test_a_remembered_token_is_not_believed_longer_than_its_issuer_s_keys(desk: Desk) -> None:
    good = token()
    await desk.subject(good)
    desk.publisher.down = True
    desk.monotonic += 10_000_000
    with pytest.raises(Exception, match="keys can't be read"):
        await desk.subject(good)


async def test_one_character_more_or_less_makes_another_token(desk: Desk) -> None:
    good = token()
    await desk.subject(good)
    for other in (good[:-1], good + "A", good.replace(".", "..", 1), good.swapcase()):
        await desk.refuses(other)


async def test_refused_tokens_are_not_remembered(desk: Desk) -> None:
    for number in range(5):
        await desk.refuses(token(claims(exp=NOW_SECONDS - 1000 - number)))
        await desk.refuses(token(key=OTHER_RSA_KEY))
    assert len(desk.authentication._verified) == 0  # noqa: SLF001 - what isn't kept can't be seen from outside


async def test_memory_is_bounded_and_the_token_used_longest_ago_leaves_first(desk: Desk) -> None:
    desk.authentication._verified.kept_max = 2  # noqa: SLF001 - nobody else sets it
    first, second, third = (token(claims(sub=f"clerk-{number}")) for number in (1, 2, 3))
    for text in (first, second, first, third, first, third):
        await desk.subject(text)
    assert desk.checks == 3
    await desk.subject(second)
    assert desk.checks == 4
    assert len(desk.authentication._verified) == 2  # noqa: SLF001 - as above


async def test_no_token_can_be_read_from_what_is_remembered(desk: Desk) -> None:
    good = token()
    await desk.subject(good)
    assert good not in repr(desk.authentication)
    assert good not in repr(vars_of(desk.authentication._verified))  # noqa: SLF001 - as above


def vars_of(tokens: VerifiedTokens) -> object:
    return {name: getattr(tokens, name) for name in ("kept_max", "_kept")}
