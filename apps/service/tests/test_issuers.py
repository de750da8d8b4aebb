"""AUTH_ISSUERS: what it may hold, and how each fault is told."""

from decimal import Decimal

import pytest

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_service.issuers import read_issuers

ISSUER: dict[str, JsonValue] = {
    "issuer": "https://issuer.example",
    "audiences": ["orchestrator"],
    "algorithms": ["RS256"],
}


def test_an_issuer_is_read_into_the_names_of_the_http_adapter() -> None:
    read = read_issuers(
        [
            {
                **ISSUER,
                "jwksUrl": "https://keys.example",
                "clockSkewSeconds": Decimal("2.5"),
                "types": [""],
                "allowPlainHttp": True,
            }
        ]
    )

    assert read.faults == ()
    assert read.issuers == (
        {
            "issuer": "https://issuer.example",
            "audiences": ("orchestrator",),
            "algorithms": ("RS256",),
            "jwks_url": "https://keys.example",
            "clock_skew_seconds": 2.5,
            "types": ("",),
            "plain_http_allowed": True,
        },
    )


@pytest.mark.parametrize("document", [None, [], {}, "https://issuer.example", 1])
def test_what_is_no_list_of_issuers_is_refused(document: JsonValue) -> None:
    assert read_issuers(document).faults == ("AUTH_ISSUERS must be a JSON array with at least one issuer.",)


def test_every_fault_of_every_issuer_is_told_with_its_place_and_without_its_value() -> None:
    read = read_issuers(
        [
            "hunter2",
            {"issuer": 7, "audiences": "hunter2", "algorithms": [1]},
            {**ISSUER, "clockSkewSeconds": True, "secret": "hunter2", "allowPlainHttp": "hunter2"},
        ]
    )

    assert read.issuers == ()
    assert read.faults == (
        "AUTH_ISSUERS/0 must be an object.",
        "AUTH_ISSUERS/1/issuer must be a string.",
        "AUTH_ISSUERS/1/audiences must be an array of strings.",
        "AUTH_ISSUERS/1/algorithms must be an array of strings.",
        "AUTH_ISSUERS/2/clockSkewSeconds must be a number.",
        "AUTH_ISSUERS/2/secret is not a member of an issuer.",
        "AUTH_ISSUERS/2/allowPlainHttp must be true or false.",
    )


@pytest.mark.parametrize("member", ["issuer", "audiences", "algorithms"])
def test_what_makes_an_issuer_trustworthy_has_to_be_there(member: str) -> None:
    entry = {name: value for name, value in ISSUER.items() if name != member}

    assert read_issuers([entry]).faults == (f"AUTH_ISSUERS/0/{member} is missing.",)
