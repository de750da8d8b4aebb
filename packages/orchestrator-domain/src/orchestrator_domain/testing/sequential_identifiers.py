"""Ids, salts and fractions that are the same in every run of the same seed."""

from hashlib import sha256
from uuid import UUID

from orchestrator_domain.ports.identifiers import Identifiers

_FIRST_MILLISECOND = 1_893_456_000_000
_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62


class SequentialIdentifiers(Identifiers):
    """Count up. Ids ascend; generators of different seeds never give the same id.

    Nothing here can't be guessed: it serves tests and simulations, never production. `seed` is from 0 to 2 ** 62 - 1.
    """

    def __init__(self, seed: int = 0) -> None:
        if not 0 <= seed < 1 << 62:
            raise ValueError("A seed is a whole number from 0 to 2 ** 62 - 1.")
        self._seed = seed
        self._count = 0

    def uuid(self) -> UUID:
        """Return a UUID of version 7: a millisecond that grows with each value, and the seed in its random part."""
        return UUID(int=(_FIRST_MILLISECOND + self._next()) << 80 | _VERSION | _VARIANT | self._seed)

    def salt(self) -> str:
        return self._digest()[:32]

    def fraction(self) -> float:
        return int(self._digest()[:13], 16) / (1 << 52)

    def _digest(self) -> str:
        return sha256(f"{self._seed}:{self._next()}".encode()).hexdigest()

    def _next(self) -> int:
        self._count += 1
        return self._count
