import base64
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidKeyIdError
from joserfc.jwk import KeySet

from orchestrator_sandbox.token_issuer import TokenIssuer

ISSUER = "http://issuer.test"


def client_of(issuer: TokenIssuer) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(issuer.application()), base_url=ISSUER)


@pytest.fixture
async def issuer() -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(TokenIssuer(issuer=ISSUER)) as client:
        yield client


async def published(issuer: httpx2.AsyncClient) -> KeySet:
    discovered = (await issuer.get("/.well-known/openid-configuration")).json()
    assert discovered["issuer"] == ISSUER
    return KeySet.import_key_set((await issuer.get(discovered["jwks_uri"])).json())


async def token(issuer: httpx2.AsyncClient, **order: object) -> str:
    answer = await issuer.post("/token", json=order)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


def verified(text: str, keys: KeySet) -> jwt.Token:
    return jwt.decode(text, keys, algorithms=["RS256", "ES256"])


async def test_a_token_is_verified_by_the_published_keys_and_carries_what_was_asked(
    issuer: httpx2.AsyncClient,
) -> None:
    before = int(time.time())
    asked: dict[str, Any] = {
        "subject": "ana",
        "roles": ["ANALISTA"],
        "scopes": ["S-1"],
        "attributes": {"nivel": 2},
    }
    seen = verified(await token(issuer, **asked, expires_in=60), await published(issuer))
    assert seen.header.items() >= {"alg": "RS256", "typ": "at+jwt"}.items()
    claims = seen.claims
    assert (
        claims.items() >= {"iss": ISSUER, "sub": "ana", "aud": "orchestrator", "roles": ["ANALISTA"]}.items()
    )
    assert (claims["business_scopes"], claims["attributes"]) == (["S-1"], {"nivel": 2})
    assert claims["iat"] == claims["nbf"] >= before
    assert claims["exp"] == claims["iat"] + 60
    jwt.JWTClaimsRegistry(exp={"essential": True}).validate(claims)


async def test_an_empty_order_has_defaults_and_no_two_tokens_share_an_id(issuer: httpx2.AsyncClient) -> None:
    answers = [(await issuer.post("/token")).json() for _ in range(2)]
    assert {(answer["token_type"], answer["expires_in"]) for answer in answers} == {("Bearer", 3600)}
    keys = await published(issuer)
    assert len({verified(answer["access_token"], keys).claims["jti"] for answer in answers}) == 2


async def test_a_token_may_be_signed_with_an_elliptic_curve(issuer: httpx2.AsyncClient) -> None:
    seen = verified(await token(issuer, algorithm="ES256"), await published(issuer))
    assert seen.header["alg"] == "ES256"


async def test_an_expired_token_can_be_ordered(issuer: httpx2.AsyncClient) -> None:
    seen = verified(await token(issuer, expires_in=-1), await published(issuer))
    assert seen.claims["nbf"] < seen.claims["exp"] < time.time()
    with pytest.raises(ExpiredTokenError):
        jwt.JWTClaimsRegistry().validate(seen.claims)


async def test_attributes_keep_the_digits_that_were_written(issuer: httpx2.AsyncClient) -> None:
    answer = await issuer.post("/token", content='{"attributes": {"limit": 0.10000000000000000000001}}')
    assert answer.status_code == 200
    payload = answer.json()["access_token"].split(".")[1]
    assert b"0.10000000000000000000001}" in base64.urlsafe_b64decode(payload + "==")


async def test_the_published_keys_are_public(issuer: httpx2.AsyncClient) -> None:
    keys = (await issuer.get("/jwks.json")).json()["keys"]
    assert [key["kty"] for key in keys] == ["RSA", "EC"]
    assert all(key["kid"] and "d" not in key and "p" not in key for key in keys)


async def test_a_rotation_signs_with_new_keys_and_still_publishes_the_old(issuer: httpx2.AsyncClient) -> None:
    old = await token(issuer)
    await issuer.post("/rotate")
    new = await token(issuer)
    keys = await published(issuer)
    assert verified(old, keys).header["kid"] != verified(new, keys).header["kid"]


async def test_a_rotation_may_withdraw_the_old_keys(issuer: httpx2.AsyncClient) -> None:
    old = await token(issuer)
    await issuer.post("/rotate", json={"keepPrevious": False})
    with pytest.raises(InvalidKeyIdError):
        verified(old, await published(issuer))


async def test_keys_in_a_state_directory_outlive_the_issuer(tmp_path: Path) -> None:
    async with client_of(TokenIssuer(issuer=ISSUER, state_directory=tmp_path)) as first:
        await first.post("/rotate")
        old, keys = await token(first), (await first.get("/jwks.json")).json()
    async with client_of(TokenIssuer(issuer=ISSUER, state_directory=tmp_path)) as second:
        assert (await second.get("/jwks.json")).json() == keys
        verified(old, await published(second))


def test_kept_keys_are_for_their_owner_only(tmp_path: Path) -> None:
    TokenIssuer(issuer=ISSUER, state_directory=tmp_path)
    (kept,) = tmp_path.iterdir()
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("order", "pointer"),
    [
        ({"roles": ["A", 1]}, "/roles/1"),
        ({"expires_in": 10**9}, "/expires_in"),
        ({"algorithm": "none"}, "/algorithm"),
        ({"admin": True}, ""),
        (["ana"], ""),
    ],
)
async def test_a_wrong_order_is_refused_with_its_place(
    issuer: httpx2.AsyncClient, order: object, pointer: str
) -> None:
    refused = await issuer.post("/token", json=order)
    assert refused.status_code == 400
    assert (refused.json()["error"], refused.json()["pointer"]) == ("invalid_request", pointer)


async def test_an_order_that_is_no_json_or_too_large_is_refused(issuer: httpx2.AsyncClient) -> None:
    assert (await issuer.post("/token", content=b"{")).status_code == 400
    assert (await issuer.post("/token", content=b" " * 70_000)).status_code == 413
