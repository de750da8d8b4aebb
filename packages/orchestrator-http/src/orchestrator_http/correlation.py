"""One id for all that a request leaves in logs, history and answers."""

import re
from collections.abc import Callable
from typing import Final

from orchestrator_domain.identifiers import CorrelationId

HEADER: Final = b"x-correlation-id"
_SAFE: Final = re.compile(rb"[A-Za-z0-9._:~-]{1,128}")


def correlation_id(headers: list[tuple[bytes, bytes]], *, fresh: Callable[[], str]) -> CorrelationId:
    """Return the client's X-Correlation-Id, or a fresh one.

    An id that is repeated, too long or outside a safe alphabet is replaced rather than refused: it is only a
    convenience, it must not cost the client its request, and it must not reach a log or a header as it is.
    """
    sent = [value for name, value in headers if name == HEADER]
    if len(sent) == 1 and _SAFE.fullmatch(sent[0]):
        return CorrelationId(sent[0].decode("ascii"))
    return CorrelationId(fresh())
