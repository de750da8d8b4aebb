"""Cursors of lists: opaque to clients, signed, and good only for whom and for what they were made.

A cursor holds the place behind which the list goes on, so it stays good under writes: nothing is counted. What it is
bound to (the list, the reader, the filter) is signed along and not written into it.
"""

import base64
import binascii
import hmac
from typing import Final

from attrs import Attribute, field, frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import Subject
from orchestrator_http.refusals import InvalidCursor

SECRET_CHARACTERS_MIN: Final = 32
_PURPOSE: Final = b"orchestrator cursor 1\n"
_SIGNATURE_BYTES: Final = 32
_CHARACTERS_MAX: Final = 2000


def _secrets(_cursors: object, _attribute: "Attribute[tuple[str, ...]]", secrets: tuple[str, ...]) -> None:
    if not secrets:
        raise ValueError(
            "No secret for cursors is named: without one nobody can tell ours from a forged one."
        )
    if min(map(len, secrets)) < SECRET_CHARACTERS_MIN:
        raise ValueError(f"A secret for cursors is shorter than {SECRET_CHARACTERS_MIN} characters.")


@frozen(kw_only=True)
class ListView:
    """What a cursor is bound to: which list, who reads it, through which filter."""

    list: str
    reader: Subject
    filter: JsonObject


@frozen(kw_only=True)
class Cursors:
    """Write and read cursors. The first secret signs and all of them verify, so that a secret can be replaced.

    Every process of a deployment needs the same secrets. Construction raises ValueError for none, or for a short one.
    """

    _secrets: tuple[str, ...] = field(validator=_secrets, repr=False)

    def written(self, position: JsonObject, view: ListView) -> str:
        """Return the cursor of a place in the list."""
        payload = canonical_bytes(position)
        return _encoded(_signature(self._secrets[0], payload, view) + payload)

    def read(self, cursor: str, view: ListView) -> JsonObject:
        """Return the place; raise InvalidCursor unless the cursor was written for this very view."""
        signed = _decoded(cursor)
        signature, payload = signed[:_SIGNATURE_BYTES], signed[_SIGNATURE_BYTES:]
        if not any(
            hmac.compare_digest(signature, _signature(secret, payload, view)) for secret in self._secrets
        ):
            raise _refused()
        position = parse_json(payload)
        assert isinstance(position, dict), "only objects are signed"
        return position


def _signature(secret: str, payload: bytes, view: ListView) -> bytes:
    bound = canonical_bytes({"list": view.list, "reader": view.reader, "filter": view.filter})
    return hmac.digest(secret.encode(), _PURPOSE + bound + b"\n" + payload, "sha256")


def _encoded(signed: bytes) -> str:
    return base64.urlsafe_b64encode(signed).rstrip(b"=").decode("ascii")


def _decoded(cursor: str) -> bytes:
    if len(cursor) > _CHARACTERS_MAX or not cursor.isascii():
        raise _refused()
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except binascii.Error:
        raise _refused() from None


def _refused() -> OrchestratorError:
    return InvalidCursor(
        "The cursor isn't one of this list, reader and filter: begin again without it, or send them unchanged."
    )
