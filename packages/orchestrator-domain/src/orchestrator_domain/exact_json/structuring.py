"""Documents as attrs classes, by cattrs: nothing is coerced, and every fault has its place.

A converter takes what JSON says and nothing else: a text is a string and not a number's digits, a list no string's
characters, null nothing that may be left out. Members that a class hasn't are faults, members with a default may be
missing. Imported only by those who read such documents, for cattrs takes long to import.
"""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin

from attrs import fields
from cattrs import AttributeValidationNote, Converter, ForbiddenExtraKeysError, IterableValidationNote
from cattrs.cols import list_structure_factory, mapping_structure_factory
from cattrs.errors import BaseValidationError

from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.value import JsonObject, JsonValue, escaped_token


class Unfit(Exception):
    """A hook refuses a value; its text says, without the value, what would fit."""


def strict_converter() -> Converter:
    """Make a converter for texts, objects, lists of such (as tuples and frozensets), and attrs classes of them."""
    converter = Converter(forbid_extra_keys=True)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook_func(lambda kind: kind is JsonObject, _object)
    converter.register_structure_hook_func(lambda kind: kind is JsonValue, lambda value, _: value)
    converter.register_structure_hook_factory(_is_optional, _present)
    converter.register_structure_hook_factory(_is_mapping, _members)
    converter.register_structure_hook_factory(_is_list, _elements)
    return converter


def structured[T](document: JsonValue, kind: type[T], converter: Converter) -> T:
    """Return what a document spells; raise InvalidInput with the first fault, and all of them as violations."""
    try:
        return converter.structure(_object(document), kind)
    except Unfit as unfit:
        raise InvalidInput(str(unfit), pointer="", violations=[("", str(unfit))]) from None
    except BaseValidationError as found:
        violations = list(_faults(found, ""))
    pointer, message = violations[0]
    raise InvalidInput(message, pointer=pointer, violations=violations)


def _text(value: object, _: object = str) -> str:
    if not isinstance(value, str):
        raise Unfit("The member is a string.")
    return value


def _object(value: object, _: object = dict) -> JsonObject:
    if not isinstance(value, dict):
        raise Unfit("An object is expected here.")
    return value


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and type(None) in get_args(kind)


def _present(kind: Any, converter: Converter) -> Any:
    """Structure what may be left out, but not be null."""
    (inner,) = (each for each in get_args(kind) if each is not type(None))
    hook = converter.get_structure_hook(inner)
    return lambda value, _: hook(value, inner)


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) is Mapping


def _members(kind: Any, converter: Converter) -> Any:
    structure = mapping_structure_factory(kind, converter)
    return lambda value, _: structure(_object(value), kind)


def _is_list(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin in (tuple, frozenset)


def _elements(kind: Any, converter: Any) -> Any:
    """Structure a list, and keep it as the container that is wanted."""
    container: Any = get_origin(kind)
    listed: Any = list[get_args(kind)[0]]  # type: ignore[misc]  # the type is a value here
    structure = list_structure_factory(listed, converter)

    def elements(value: object, _: object) -> Any:
        if not isinstance(value, list):
            raise Unfit("A list is expected here.")
        return container(structure(value, listed))

    return elements


_MISSING: Final = "The member is missing."


def _faults(found: BaseException, at: str) -> Iterator[tuple[str, str]]:
    match found:
        case ForbiddenExtraKeysError(extra_fields=extra, cl=kind):
            known = ", ".join(attribute.name for attribute in fields(kind))
            for name in sorted(extra):
                place = f"{at}/{escaped_token(name)}"
                yield place, f"There is no such member; there are: {known}."
        case BaseExceptionGroup(exceptions=inner):
            for each in inner:
                yield from _faults(each, at + _token(each))
        case KeyError():
            yield at, _MISSING
        case _:
            yield at, str(found)


def _token(found: BaseException) -> str:
    """Return where in its parent a fault lies; an unknown member is told by its parent."""
    for note in cast("list[object]", getattr(found, "__notes__", [])):
        if isinstance(note, AttributeValidationNote):
            return f"/{escaped_token(note.name)}"
        if isinstance(note, IterableValidationNote):
            return f"/{escaped_token(str(note.index))}"
    return ""
