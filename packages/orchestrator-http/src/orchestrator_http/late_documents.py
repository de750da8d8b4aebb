"""Fetching documents by a client that is imported when the first of them is fetched."""

import asyncio

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.key_documents import FetchDocument


async def late_document(url: str) -> JsonValue:
    """Fetch as HttpDocuments do; a FetchDocument."""
    fetch = await asyncio.to_thread(_imported)
    return await fetch(url)


def _imported() -> FetchDocument:
    # The client is a twentieth of a start, and a process without tokens never needs it. In a thread, since the event loop
    # has others to serve meanwhile.
    from orchestrator_http.http_documents import HttpDocuments  # noqa: PLC0415 -- see above

    return HttpDocuments()
