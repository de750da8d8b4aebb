"""The Retry-After header (RFC 9110, section 10.2.3), read with distrust."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Longer than any bound that a contract may set; it only keeps the arithmetic small.
_SECONDS_MAX = 86_400.0
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)


def retry_after_seconds(value: str | None, *, now: datetime) -> float | None:
    """Return the wait that is asked for, at most a day; None for none, the past, and anything unreadable."""
    if value is None:
        return None
    text = value.strip()
    if _DIGITS.fullmatch(text):
        return min(float(text), _SECONDS_MAX)
    moment = _moment(text)
    if moment is None:
        return None
    seconds = (moment - now).total_seconds()
    return min(seconds, _SECONDS_MAX) if seconds > 0 else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # A date of RFC 9110 is in GMT, whether or not it can be told from the text.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
