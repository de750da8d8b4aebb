"""Every pointer leads to the place where its value is written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.positions import Position, positions_in
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.testing.strategies import json_values

TEXT = '{\n  "a": [1, {"b/c": "é\\n\\u00e9", "d": null}],\r\n\t"e" :\n    {}\n}'


def test_members_stand_at_their_names_and_elements_at_their_values() -> None:
    places = positions_in(TEXT)

    assert places.of("") == Position(line=1, column=1)
    assert places.of("/a") == Position(line=2, column=3)
    assert places.of("/a/0") == Position(line=2, column=9)
    assert places.of("/a/1/b~1c") == Position(line=2, column=13)
    assert places.of("/a/1/d") == Position(line=2, column=33)
    assert places.of("/e") == Position(line=3, column=2)


def test_what_is_not_there_is_placed_at_what_should_hold_it() -> None:
    places = positions_in(TEXT)

    assert places.of("/a/1/missing/below") == places.of("/a/1")
    assert places.of("/nothing") == places.of("")
    assert places.of("no pointer") == places.of("")


@given(json_values(), st.sampled_from([None, 1, "\t"]))
def test_at_the_place_of_each_value_its_text_begins(value: Any, indent: Any) -> None:
    plain: Any = json.loads(dump_json(value), parse_float=str, parse_int=str)
    text = json.dumps(plain, indent=indent, ensure_ascii=False)
    places, lines = positions_in(text), text.split("\n")

    for pointer, name, part in parts(plain, Pointer.root()):
        position = places.of(str(pointer))
        rest = lines[position.line - 1][position.column - 1 :]
        written = (
            json.dumps(part, indent=indent, ensure_ascii=False)
            if name is None
            else json.dumps(name, ensure_ascii=False)
        )
        assert rest.startswith(written.split("\n")[0])


def parts(value: Any, at: Pointer, name: str | None = None) -> Any:
    yield at, name, value
    if isinstance(value, dict):
        for key, below in value.items():
            yield from parts(below, at.child(key), key)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from parts(below, at.child(index))
