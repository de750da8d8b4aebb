"""Query parameters: known ones, once, readable."""

import pytest

from orchestrator_http.query import read_query, whole_number
from orchestrator_http.refusals import InvalidQuery

KNOWN = frozenset({"kind", "limit"})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (b"", {}),
        (b"kind=A", {"kind": "A"}),
        (b"kind=A&limit=7", {"kind": "A", "limit": "7"}),
        (b"kind=A%2BB+C", {"kind": "A+B C"}),
        (b"kind=", {"kind": ""}),
        (b"kind=%C3%B1&", {"kind": "ñ"}),
    ],
)
def test_parameters_are_read_as_they_were_meant(query: bytes, found: dict[str, str]) -> None:
    assert read_query(query, known=KNOWN) == found


@pytest.mark.parametrize(
    "query",
    [
        b"other=1",
        b"kind=A&kind=A",
        b"kind=A&k%69nd=B",
        b"kind=%00",
        b"kind=%0d%0aX: y",
        b"kind=%FF",
        b"kind=%ED%A0%80",
        b"kind=" + b"A" * 5000,
        b"&" * 60,
    ],
)
def test_what_two_readers_could_read_differently_is_refused(query: bytes) -> None:
    with pytest.raises(InvalidQuery):
        read_query(query, known=KNOWN)


def test_a_refusal_quotes_nothing_of_the_query() -> None:
    with pytest.raises(InvalidQuery) as refusal:
        read_query(b"secret-name=secret-value", known=KNOWN)
    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(("text", "number"), [(None, 20), ("1", 1), ("100", 100), ("007", 7)])
def test_a_whole_number_within_bounds_is_taken(text: str | None, number: int) -> None:
    given = {} if text is None else {"limit": text}
    assert whole_number(given, "limit", default=20, least=1, most=100) == number


@pytest.mark.parametrize("text", ["", "0", "101", "-1", "+1", "1.0", "1e1", "٣", "0x1", " 1", "9" * 5000])
def test_any_other_number_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        whole_number({"limit": text}, "limit", default=20, least=1, most=100)
