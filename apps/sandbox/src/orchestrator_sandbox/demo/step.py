"""One step of the demonstration."""

from collections.abc import Callable

from attrs import frozen


@frozen(kw_only=True)
class Step:
    """One thing to do; `act` does it and tells what was seen, in the words of one of `expected`."""

    name: str
    expected: tuple[str, ...]
    act: Callable[[], str]
