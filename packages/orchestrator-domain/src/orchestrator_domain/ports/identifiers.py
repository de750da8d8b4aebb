"""Where fresh ids and salts come from."""

from typing import Protocol
from uuid import UUID


class Identifiers(Protocol):
    """Give out values that nobody has had before.

    Promises: `uuid` is a version 7 UUID, so that indexes stay hot at their end; `salt` is 32 hexadecimal digits that
    nobody can guess; `fraction` is uniform in [0, 1), for jitter.
    """

    def uuid(self) -> UUID: ...

    def salt(self) -> str: ...

    def fraction(self) -> float: ...
