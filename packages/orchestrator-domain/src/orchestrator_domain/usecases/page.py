"""One look at a list, and where to go on."""

from collections.abc import Callable, Sequence

from attrs import frozen


@frozen(kw_only=True)
class Page[Item, Position]:
    """Some items in the list's order. `last` is the place behind which more follow, None at the end of the list."""

    items: tuple[Item, ...]
    last: Position | None


def page_of[Item, Position](
    found: Sequence[Item], *, limit: int, position: Callable[[Item], Position]
) -> Page[Item, Position]:
    """Return the first `limit` of what was found by asking for one more, which only tells that there is more."""
    items = tuple(found[:limit])
    return Page(items=items, last=position(items[-1]) if len(found) > limit else None)
