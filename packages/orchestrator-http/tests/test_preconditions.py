"""If-Match, If-None-Match and Idempotency-Key are read by their RFCs, and refused where they aren't written so."""

import pytest

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.request.acceptance import AnyRevision, Precondition, RevisionIn
from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.preconditions import (
    optional_precondition,
    required_idempotency_key,
    required_precondition,
)
from orchestrator_http.refusals import InvalidHeader


def lines(name: str, *values: bytes) -> HeaderLines:
    return HeaderLines([(name.lower().encode(), value) for value in values])


def tags(*names: str) -> RevisionIn:
    return RevisionIn(tags=names)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"7"', tags("7")),
        ("*", AnyRevision()),
        (" * ", AnyRevision()),
        ('"7", "8"', tags("7", "8")),
        ('"7","8"', tags("7", "8")),
        (', "7" ,, "8",', tags("7", "8")),
        ('"a,b"', tags("a,b")),
        ('""', tags("")),
        ('W/"7"', tags()),
        ('W/"7", "8"', tags("8")),
    ],
)
def test_if_match_is_a_star_or_a_list_in_which_weak_tags_match_nothing(
    value: str, expected: Precondition
) -> None:
    assert required_precondition(lines("If-Match", value.encode())) == expected


@pytest.mark.parametrize(
    "value",
    [b"7", b'"7', b'7"', b"", b",", b'"7" "8"', b'"7"8', b'*, "7"', b'w/"7"', b"W/7", b'"\xe9"', b'"7"\x00'],
)
def test_an_if_match_that_is_not_well_formed_is_refused(value: bytes) -> None:
    with pytest.raises(InvalidHeader):
        required_precondition(lines("If-Match", value))


def test_an_unquoted_tag_is_answered_with_a_hint_and_not_with_itself() -> None:
    with pytest.raises(InvalidHeader, match='If-Match: "7"') as refusal:
        required_precondition(lines("If-Match", b"4711"))
    assert "4711" not in refusal.value.message


def test_no_if_match_is_no_precondition() -> None:
    assert optional_precondition(HeaderLines([])) is None


def test_a_long_list_of_broken_tags_is_read_once() -> None:
    with pytest.raises(InvalidHeader):
        required_precondition(lines("If-Match", b'"' + b'",' * 30_000))


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (b"k", "k"),
        (b'"k"', "k"),
        (b"  k  ", "k"),
        (b'a"b', 'a"b'),
        (b'"a\\"b"', 'a"b'),
        (b'"a\\\\b"', "a\\b"),
        (b"k" * 200, "k" * 200),
        (b'"' + b"k" * 200 + b'"', "k" * 200),
        (bytes(range(0x23, 0x7F)), bytes(range(0x23, 0x7F)).decode()),
    ],
)
def test_a_key_is_the_same_with_and_without_quotes(value: bytes, key: str) -> None:
    assert required_idempotency_key(lines("Idempotency-Key", value)) == key


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b'""',
        b'"',
        b'"k',
        b'"a"b"',
        b"a b",
        b'"a b"',
        b"k" * 201,
        b"k\x00",
        b"k\r\nX: y",
        b"\xc3\xa9",
        b"k\x7f",
    ],
)
def test_a_key_that_is_not_1_to_200_visible_characters_is_refused(value: bytes) -> None:
    with pytest.raises(OrchestratorError) as refusal:
        required_idempotency_key(lines("Idempotency-Key", value))
    assert refusal.value.code == "INVALID_HEADER"
