"""What only tokens need, imported with the first of them: a client that fetches keys, and what reads and uses them.

Both are a sixth of a start, and a process without an API never needs them. They are imported in a thread, since the event
loop has others to serve meanwhile.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_http.access_token import ReadToken
from orchestrator_http.key_documents import FetchDocument

if TYPE_CHECKING:
    from orchestrator_http.public_keys import PublicKey, PublishedKey


async def late_document(url: str) -> JsonValue:
    """Fetch as HttpDocuments do; a FetchDocument."""
    fetch = await asyncio.to_thread(_http_documents)
    return await fetch(url)


async def late_keys(document: JsonValue) -> "tuple[PublishedKey, ...]":
    """Return the `published_keys` of a JWK Set."""
    return await asyncio.to_thread(_keys_of, document)


def late_claims(token: ReadToken, keys: "Sequence[PublicKey]") -> "tuple[JsonObject, PublicKey]":
    """Do as `verified_claims`, by what was imported with the keys."""
    from orchestrator_http.signatures import verified_claims  # noqa: PLC0415 -- see above

    return verified_claims(token, keys)


def _http_documents() -> FetchDocument:
    from orchestrator_http.http_documents import HttpDocuments  # noqa: PLC0415 -- see above

    return HttpDocuments()


def _keys_of(document: JsonValue) -> "tuple[PublishedKey, ...]":
    import orchestrator_http.signatures  # noqa: F401, PLC0415 -- see above; the next to be used
    from orchestrator_http.public_keys import published_keys  # noqa: PLC0415 -- see above

    return published_keys(document)
