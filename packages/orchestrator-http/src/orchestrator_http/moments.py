"""Moments as clients write them (RFC 3339, with their offset)."""

import re
from datetime import datetime
from typing import Final

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def moment_of(text: str) -> datetime | None:
    """Return the moment that a text names, or None for a text that names none."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
