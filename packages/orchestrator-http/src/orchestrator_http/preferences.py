"""What a client would like (Prefer, RFC 7240)."""

import re
from typing import Final

from orchestrator_http.header_lines import HeaderLines

WAIT_SECONDS_MAX: Final = 30
_WAIT: Final = re.compile(r"wait[ \t]*=[ \t]*([0-9]{1,9})", re.IGNORECASE)


def preferred_wait_seconds(headers: HeaderLines) -> int | None:
    """Return the wait that is preferred, within bounds; a preference that can't be read is ignored."""
    for line in headers.all("Prefer"):
        for preference in line.split(","):
            wait = _WAIT.fullmatch(preference.partition(";")[0].strip(" \t"))
            if wait is not None:
                return min(int(wait[1]), WAIT_SECONDS_MAX) or None
    return None
