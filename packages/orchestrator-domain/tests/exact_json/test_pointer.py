import pytest
from hypothesis import given

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue
from orchestrator_domain.testing.strategies import json_objects, json_values, pointers

DOCUMENT: JsonValue = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "m~n": 8,
    "null": None,
    "~1": 9,
    "0": {"-": 3},
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/foo/1", "baz"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/null", None),
        ("/0/-", 3),
        ("/foo/2", ABSENT),
        ("/foo/-", ABSENT),
        ("/foo/00", ABSENT),
        ("/foo/01", ABSENT),
        ("/foo/-1", ABSENT),
        ("/foo/+1", ABSENT),
        ("/foo/1 ", ABSENT),
        ("/foo/1\n", ABSENT),
        ("/foo/\u0661", ABSENT),
        ("/foo/" + "9" * 5000, ABSENT),
        ("/foo/0/b", ABSENT),
        ("/null/a", ABSENT),
        ("/missing", ABSENT),
    ],
)
def test_a_pointer_finds_what_rfc_6901_says(text: str, found: JsonValue | Absent) -> None:
    assert Pointer.parse(text).resolve(DOCUMENT) == found


@pytest.mark.parametrize("text", ["a", "a/b", "#/a", "/~", "/~2", "/a~", " /a", "/a/~~0"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(InvalidPointer) as refusal:
        Pointer.parse(text)
    assert refusal.value.code == "INVALID_POINTER"


@given(pointers())
def test_a_pointer_is_read_as_it_is_written(pointer: Pointer) -> None:
    assert Pointer.parse(str(pointer)) == pointer


@given(pointers(), pointers())
def test_a_prefix_and_the_rest_make_the_whole(prefix: Pointer, rest: Pointer) -> None:
    whole = Pointer(tokens=prefix.tokens + rest.tokens)
    assert whole.starts_with(prefix)
    assert whole.without_prefix(prefix) == rest


@given(json_objects(), json_values())
def test_a_child_resolves_to_the_member_or_element(members: dict[str, JsonValue], value: JsonValue) -> None:
    for name, member in members.items():
        assert Pointer.root().child(name).resolve(members) is member
    assert Pointer.root().child(1).resolve([None, value]) is value


def test_prefixes_are_whole_tokens() -> None:
    assert not Pointer.parse("/ab").starts_with(Pointer.parse("/a"))
    assert not Pointer.parse("/a").starts_with(Pointer.parse("/a/b"))


def test_a_strange_prefix_cannot_be_cut_off() -> None:
    with pytest.raises(InvalidPointer):
        Pointer.parse("/a/b").without_prefix(Pointer.parse("/b"))
