"""Whose tokens are believed, and what they have to look like."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import Attribute, field, frozen

# What a token may be signed with: the kind of key, and the curve where the algorithm fixes one. Neither `none` nor a
# shared secret is in it, so no setting can allow them.
ALGORITHMS: Final[Mapping[str, tuple[str, tuple[str, ...] | None]]] = {
    "RS256": ("RSA", None),
    "RS384": ("RSA", None),
    "RS512": ("RSA", None),
    "PS256": ("RSA", None),
    "PS384": ("RSA", None),
    "PS512": ("RSA", None),
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "ES512": ("EC", ("P-521",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
    "Ed25519": ("OKP", ("Ed25519",)),
    "Ed448": ("OKP", ("Ed448",)),
}
_ALIAS: Final = re.compile(r"[A-Za-z0-9._-]{1,50}")
_SKEW_SECONDS_MAX: Final = 300


def _several(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


def _texts(_issuer: object, attribute: "Attribute[Any]", values: tuple[str, ...]) -> None:
    if not values or not all(value.strip() for value in values):
        raise ValueError(f"{attribute.name} of a trusted issuer is empty: name at least one.")


def _known_algorithms(_issuer: object, _attribute: "Attribute[Any]", names: tuple[str, ...]) -> None:
    if not set(names) <= ALGORITHMS.keys():
        raise ValueError(f"algorithms of a trusted issuer may only be {', '.join(ALGORITHMS)}.")


def _web_address(_issuer: object, attribute: "Attribute[Any]", value: str | None) -> None:
    if value is not None and not is_web_address(value):
        raise ValueError(f"{attribute.name} of a trusted issuer must be an http or https URL.")


def _issuer_name(_issuer: object, _attribute: "Attribute[Any]", value: str) -> None:
    if not value.strip():
        raise ValueError("issuer of a trusted issuer is empty: write the exact value of its tokens' iss.")


def _alias(_issuer: object, _attribute: "Attribute[Any]", value: str) -> None:
    if not _ALIAS.fullmatch(value):
        raise ValueError(
            "alias of a trusted issuer must be 1 to 50 letters, digits, dots, hyphens or underscores."
        )


def _skew(_issuer: object, _attribute: "Attribute[Any]", value: float) -> None:
    if not 0 <= value <= _SKEW_SECONDS_MAX:
        raise ValueError(f"clock_skew_seconds of a trusted issuer must be from 0 to {_SKEW_SECONDS_MAX}.")


@frozen(kw_only=True)
class TrustedIssuer:
    """One issuer of access tokens. Construction raises ValueError with a sentence for what would let too much through.

    `issuer` is compared exactly with `iss`. `jwks_url` None asks the issuer's discovery document. Claims are named by
    a member of the token, or by a path with dots (`realm_access.roles`). `types` is the allow-list for the header's
    `typ`, by default that of access tokens alone (RFC 9068, section 4); an empty string in it lets tokens without `typ`
    pass. Keys are fetched over https, from this machine over http too, and from elsewhere over http only where
    `plain_http_allowed` says so.
    """

    issuer: str = field(validator=_issuer_name)
    audiences: tuple[str, ...] = field(converter=_several, validator=_texts)
    algorithms: tuple[str, ...] = field(converter=_several, validator=[_texts, _known_algorithms])
    jwks_url: str | None = field(default=None, validator=_web_address)
    alias: str = field(default="default", validator=_alias)
    roles_claim: str = "roles"
    scopes_claim: str = "business_scopes"
    attributes_claim: str = "attributes"
    clock_skew_seconds: float = field(default=30.0, validator=_skew)
    types: tuple[str, ...] = field(default=("at+jwt", "application/at+jwt"), converter=_several)
    plain_http_allowed: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse discovery for an issuer whose name is no address, and keys that anybody on the way could replace."""
        if self.jwks_url is None and not is_web_address(self.issuer):
            raise ValueError(
                "jwks_url of a trusted issuer is needed, for its name is no URL to discover it from."
            )
        if not self.types:
            raise ValueError("types of a trusted issuer is empty: name at least one typ.")
        if not self.may_be_asked(self.jwks_url or self.issuer):
            named = "issuer" if self.jwks_url is None else "jwks_url"
            raise ValueError(
                f"{named} of a trusted issuer must be an https URL, for whoever can change its keys on their way can sign "
                "any token; set plain_http_allowed (allowPlainHttp) if the way is protected otherwise."
            )

    def may_be_asked(self, url: str) -> bool:
        """Say whether keys that come from this URL can be trusted."""
        return self.plain_http_allowed or urlsplit(url).scheme == "https" or _is_on_this_machine(url)


def is_web_address(text: str) -> bool:
    """Say whether a text is an absolute http(s) URL without credentials."""
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and "@" not in parts.netloc
            and "\\" not in text
        )
    except ValueError:
        return False


def _is_on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
