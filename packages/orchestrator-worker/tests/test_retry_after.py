"""Retry-After is a wish, read with distrust."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_worker.retry_after import retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("999999999999999999", 86_400.0),
        ("9" * 5000, None),
        ("-5", None),
        ("1.5", None),
        ("1e3", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30.0),
        ("Sun, 01 Mar 2026 11:59:59 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("Fri, 99 Dec 2026 23:59:59 GMT", None),
        ("Sun, 01 Mar 99999999999 00:00:00 GMT", None),
    ],
)
def test_seconds_and_dates_are_bounded_and_anything_else_is_ignored(
    value: str | None, seconds: float | None
) -> None:
    assert retry_after_seconds(value, now=NOW) == seconds


@given(st.text())
def test_no_text_raises_or_leaves_the_bounds(value: str) -> None:
    seconds = retry_after_seconds(value, now=NOW)
    assert seconds is None or 0 <= seconds <= 86_400
