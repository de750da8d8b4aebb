"""Reading request headers so that two readers can't read them differently."""

import re
from typing import Final

from attrs import frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_http.refusals import HeadersTooLarge, InvalidHeader

# A second line of any of these is an attack or a mistake: two readers may each believe another one of them.
_ONE_LINE: Final = {
    b"authorization": "Authorization",
    b"content-length": "Content-Length",
    b"content-type": "Content-Type",
    b"host": "Host",
    b"idempotency-key": "Idempotency-Key",
    b"if-match": "If-Match",
    b"if-none-match": "If-None-Match",
    b"transfer-encoding": "Transfer-Encoding",
}
_LINES_MAX: Final = 100
_BYTES_MAX: Final = 32 * 1024
_PRINTABLE: Final = re.compile(rb"[\t -~]*")


@frozen
class HeaderLines:
    """The header lines of one request, names in lower case, as the server passes them."""

    lines: list[tuple[bytes, bytes]]

    def refuse_oversized(self) -> None:
        """Raise HeadersTooLarge for more than a client has reason to send; not every server has a limit of its own."""
        if (
            len(self.lines) > _LINES_MAX
            or sum(len(name) + len(value) for name, value in self.lines) > _BYTES_MAX
        ):
            raise HeadersTooLarge(
                f"The headers are larger than {_BYTES_MAX} bytes or more than {_LINES_MAX} lines: send fewer."
            )

    def refuse_ambiguous(self) -> None:
        """Raise InvalidHeader for a second line of a header that has one, or for two ways to end the body."""
        names = [name for name, _ in self.lines]
        for name, spelling in _ONE_LINE.items():
            if names.count(name) > 1:
                raise InvalidHeader(f"{spelling} occurs more than once: send a single line.")
        if b"content-length" in names and b"transfer-encoding" in names:
            raise InvalidHeader("Content-Length and Transfer-Encoding exclude each other: send one of them.")

    def one(self, spelling: str, *, refusal: type[OrchestratorError] = InvalidHeader) -> str | None:
        """Return the value of a header, None if it isn't there; raise the refusal unless it is printable ASCII."""
        name = spelling.lower().encode("ascii")
        values = [value for sent, value in self.lines if sent == name]
        if not values:
            return None
        if len(values) > 1:
            raise refusal(f"{spelling} occurs more than once: send a single line.")
        if not _PRINTABLE.fullmatch(values[0]):
            raise refusal(f"{spelling} holds characters outside printable ASCII.")
        return values[0].decode("ascii").strip(" \t")

    def all(self, spelling: str) -> list[str]:
        """Return the values of a header that may have several lines, those of printable ASCII only."""
        name = spelling.lower().encode("ascii")
        return [
            value.decode("ascii")
            for sent, value in self.lines
            if sent == name and _PRINTABLE.fullmatch(value)
        ]
