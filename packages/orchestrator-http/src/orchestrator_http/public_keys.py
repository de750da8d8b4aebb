"""The public keys of a JWK Set, read one by one."""

from typing import Final

from attrs import frozen
from joserfc.jwk import ECKey, OKPKey, RSAKey

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_http.trusted_issuer import ALGORITHMS

type PublicKey = RSAKey | ECKey | OKPKey

_RSA_BITS_MIN: Final = 2048
_RSA_BITS_MAX: Final = 8192
_KEYS_MAX: Final = 100
_PRIVATE_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


@frozen(kw_only=True)
class PublishedKey:
    """One usable key of a set. `algorithm` is what the issuer restricts it to, if it does."""

    key_id: str | None
    kind: str
    curve: str | None
    algorithm: str | None
    key: PublicKey

    def suits(self, algorithm: str) -> bool:
        kind, curves = ALGORITHMS[algorithm]
        return (
            self.kind == kind
            and (curves is None or self.curve in curves)
            and self.algorithm in (None, algorithm)
        )


def published_keys(document: JsonValue) -> tuple[PublishedKey, ...]:
    """Return the usable keys of a JWK Set: public RSA of 2048 bits and more, EC and Edwards keys for signatures.

    Each key stands alone: one that can't be used is left out, and the others stay.
    """
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return ()
    usable = (_published(entry) for entry in entries[:_KEYS_MAX] if isinstance(entry, dict))
    return tuple(key for key in usable if key is not None)


def _published(entry: JsonObject) -> PublishedKey | None:
    key_id, algorithm = entry.get("kid"), entry.get("alg")
    if not isinstance(key_id, str | None) or not isinstance(algorithm, str | None):
        return None
    if not _verifies_signatures(entry) or _PRIVATE_MEMBERS & entry.keys():
        return None
    try:
        key, curve = _imported(entry)
    except Exception:  # noqa: BLE001 - whatever a malformed key makes the library raise, only this key is lost
        return None
    if isinstance(key, RSAKey) and not _RSA_BITS_MIN <= key.public_key.key_size <= _RSA_BITS_MAX:
        return None
    return PublishedKey(key_id=key_id, kind=key.key_type, curve=curve, algorithm=algorithm, key=key)


def _verifies_signatures(entry: JsonObject) -> bool:
    operations = entry.get("key_ops", ["verify"])
    return entry.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _imported(entry: JsonObject) -> tuple[PublicKey, str | None]:
    """Import the public members alone, so that nothing else in the entry has a say."""
    match entry.get("kty"):
        case "RSA":
            return RSAKey.import_key(_texts(entry, "n", "e")), None
        case "EC":
            elliptic = ECKey.import_key(_texts(entry, "crv", "x", "y"))
            return elliptic, elliptic.curve_name
        case "OKP":
            edwards = OKPKey.import_key(_texts(entry, "crv", "x"))
            return edwards, edwards.curve_name
        case _:
            raise ValueError("neither RSA nor EC nor OKP")


def _texts(entry: JsonObject, *names: str) -> dict[str, str | list[str]]:
    chosen: dict[str, str | list[str]] = {"kty": str(entry["kty"])}
    for name in names:
        value = entry[name]
        if not isinstance(value, str):
            raise TypeError(name)
        chosen[name] = value
    return chosen
