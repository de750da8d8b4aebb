"""Fresh ids and salts from the operating system's randomness."""

import os
import random
import secrets
import time
from threading import Lock
from uuid import UUID

from attrs import define, field

from orchestrator_domain.ports.identifiers import Identifiers

_MILLISECOND_NS = 1_000_000


@define
class SystemIdentifiers(Identifiers):
    """Make UUIDs of version 7 (RFC 9562, section 5.7) that ascend within a process.

    The clock only orders ids for the indexes' sake; nothing relies on it, and a clock that is set back repeats no id.
    """

    _last: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def uuid(self) -> UUID:
        moment = self._ascending()
        milliseconds, fraction = divmod(moment, _MILLISECOND_NS)
        high = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | (fraction * 4096 // _MILLISECOND_NS) << 64
        low = 0b10 << 62 | int.from_bytes(os.urandom(8)) >> 2
        return UUID(int=high | low)

    def salt(self) -> str:
        return secrets.token_hex(16)

    def fraction(self) -> float:
        return random.random()  # noqa: S311 -- spreads retries; nothing secret depends on it

    def _ascending(self) -> int:
        """Return nanoseconds, at least one twelve-bit step of a millisecond after the last ones."""
        with self._lock:
            self._last = max(time.time_ns(), self._last + _MILLISECOND_NS // 4096 + 1)
            return self._last
