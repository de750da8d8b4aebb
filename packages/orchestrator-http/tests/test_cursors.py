"""Cursors are good for whom and for what they were made, and nothing else is."""

import base64

import pytest
from attrs import evolve

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import Subject
from orchestrator_http.cursors import Cursors, ListView
from orchestrator_http.refusals import InvalidCursor

OLD, NEW = "the old secret, 32 characters or more", "the new secret, 32 characters or more"
VIEW = ListView(list="history/1", reader=Subject("clerk-1"), filter={"kind": "EVENT_ACCEPTED"})
PLACE: JsonObject = {"sequence": 7}


def written(cursors: Cursors) -> str:
    return cursors.written(PLACE, VIEW)


def test_a_cursor_leads_back_to_its_place() -> None:
    cursors = Cursors(secrets=(OLD,))
    assert cursors.read(written(cursors), VIEW) == PLACE


def test_a_secret_is_replaced_while_its_cursors_are_under_way() -> None:
    before, during, after = Cursors(secrets=(OLD,)), Cursors(secrets=(NEW, OLD)), Cursors(secrets=(NEW,))
    assert during.read(written(before), VIEW) == PLACE
    assert after.read(written(during), VIEW) == PLACE
    with pytest.raises(InvalidCursor):
        after.read(written(before), VIEW)


@pytest.mark.parametrize(
    "view",
    [
        evolve(VIEW, list="history/2"),
        evolve(VIEW, reader=Subject("clerk-2")),
        evolve(VIEW, filter={}),
        evolve(VIEW, filter={"kind": "EVENT_ACCEPTED", "from": "2026-01-01T00:00:00Z"}),
    ],
    ids=["list", "reader", "less-filter", "more-filter"],
)
def test_a_cursor_is_refused_in_another_view(view: ListView) -> None:
    cursors = Cursors(secrets=(OLD,))
    with pytest.raises(InvalidCursor):
        cursors.read(written(cursors), view)


def test_a_cursor_with_any_single_bit_changed_is_refused() -> None:
    cursors = Cursors(secrets=(OLD,))
    signed = base64.urlsafe_b64decode(written(cursors) + "==")
    for position in range(len(signed) * 8):
        changed = bytearray(signed)
        changed[position // 8] ^= 1 << position % 8
        with pytest.raises(InvalidCursor):
            cursors.read(base64.urlsafe_b64encode(changed).rstrip(b"=").decode(), VIEW)


@pytest.mark.parametrize("text", ["", "x", "=", "ä", "A" * 5000, "a.b", "%00", "AAAA" * 20])
def test_what_was_never_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        Cursors(secrets=(OLD,)).read(text, VIEW)


@pytest.mark.parametrize("secrets", [(), ("short",), (OLD, "")])
def test_there_are_no_cursors_without_proper_secrets(secrets: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="secret for cursors"):
        Cursors(secrets=secrets)


def test_secrets_show_up_in_no_text() -> None:
    assert OLD not in repr(Cursors(secrets=(OLD,)))
