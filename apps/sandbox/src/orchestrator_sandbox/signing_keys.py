"""Hold the keys that sign the sandbox's tokens, and rotate them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from attrs import evolve, frozen
from joserfc import jws
from joserfc.jwk import ECKey, KeyParameters, RSAKey

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject

type SigningKey = RSAKey | ECKey

ALGORITHMS = ("RS256", "ES256")


@frozen(kw_only=True)
class SigningKeys:
    """One signing key for each algorithm, and the retired ones that are still published."""

    current: Mapping[str, SigningKey]
    retired: tuple[SigningKey, ...] = ()

    @classmethod
    def generated(cls) -> Self:
        """Make a fresh RSA key of 2048 bits and a fresh P-256 key."""
        return cls(
            current={
                "RS256": RSAKey.generate_key(2048, _parameters("RS256"), auto_kid=True),
                "ES256": ECKey.generate_key("P-256", _parameters("ES256"), auto_kid=True),
            }
        )

    @classmethod
    def kept_in(cls, directory: Path) -> Self:
        """Load the keys of a directory, generating and saving them the first time."""
        key_file = directory / "signing-keys.json"
        if not key_file.exists():
            cls.generated().save(directory)
        saved = json.loads(key_file.read_text())
        return cls(
            current={algorithm: _imported(key) for algorithm, key in saved["current"].items()},
            retired=tuple(_imported(key) for key in saved["retired"]),
        )

    def save(self, directory: Path) -> None:
        """Write the private keys to a file that only its owner may read, whole or not at all."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = directory / f".signing-keys.{os.getpid()}.json"
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(
            json.dumps(
                {
                    "current": {name: key.as_dict(private=True) for name, key in self.current.items()},
                    "retired": [key.as_dict(private=True) for key in self.retired],
                }
            )
        )
        draft.replace(directory / "signing-keys.json")

    def rotated(self, *, retired: tuple[SigningKey, ...]) -> Self:
        """Return fresh keys, beside which the given old ones stay published."""
        return evolve(type(self).generated(), retired=retired)

    def published(self) -> dict[str, Any]:
        """Return the JWK Set (RFC 7517) of all public halves."""
        keys = (*self.current.values(), *self.retired)
        return {"keys": [key.as_dict(private=False) for key in keys]}

    def signed(self, algorithm: str, claims: JsonObject) -> str:
        """Sign claims as an access token (RFC 9068: `typ` is `at+jwt`) with an algorithm's current key."""
        key = self.current[algorithm]
        header = {"alg": algorithm, "typ": "at+jwt", "kid": key.kid}
        return jws.serialize_compact(header, dump_json(claims), key, algorithms=[algorithm])


def _parameters(algorithm: str) -> KeyParameters:
    return {"alg": algorithm, "use": "sig"}


def _imported(key: dict[str, Any]) -> SigningKey:
    return RSAKey.import_key(key) if key["kty"] == "RSA" else ECKey.import_key(key)
