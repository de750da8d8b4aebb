"""The messages of PostgreSQL's protocol, as far as a proxy has to know them to see statements go by."""

from collections.abc import Iterator

from attrs import define, field, frozen

FLUSH = b"H\x00\x00\x00\x04"
IMPLICIT_COMMIT = "(the end of a transaction that nobody began)"
_ENDS = (b"C", b"E", b"I", b"s")


@frozen
class Message:
    """One message: its kind (empty for the first of a connection), its body, and the whole as it was sent."""

    kind: bytes
    body: bytes
    whole: bytes


def messages(pending: bytearray) -> Iterator[Message]:
    """Take every whole message off the front of what has arrived."""
    while len(pending) >= 5:
        length = 1 + int.from_bytes(pending[1:5])
        if len(pending) < length:
            return
        whole = bytes(pending[:length])
        del pending[:length]
        yield Message(kind=whole[:1], body=whole[5:], whole=whole)


def ends_a_statement(message: Message) -> bool:
    """Say whether an answer of the server is the last one to some statement."""
    return message.kind in _ENDS


@define(eq=False)
class StatementReader:
    """What one client sends: the text of each statement that it has executed."""

    _pending: bytearray = field(factory=bytearray)
    _begun: bool = False
    _prepared: dict[bytes, str] = field(factory=dict)
    _portals: dict[bytes, str] = field(factory=dict)
    _in_block: bool = False
    _uncommitted: bool = False

    def read(self, chunk: bytes) -> Iterator[Message]:
        """Return the messages that are whole by now."""
        self._pending += chunk
        if not self._begun and len(self._pending) >= 4:
            length = int.from_bytes(self._pending[:4])
            if len(self._pending) < length:
                return
            first = bytes(self._pending[:length])
            del self._pending[:length]
            self._begun = True
            yield Message(kind=b"", body=first, whole=first)
        if self._begun:
            yield from messages(self._pending)

    def statement(self, message: Message) -> str | None:
        """Return the text that this message lets the server carry out, None if it is of another kind."""
        match message.kind:
            case b"Q":
                return self._executed(_words(message.body.split(b"\0")[0]))
            case b"P":
                name, text = message.body.split(b"\0")[:2]
                self._prepared[name] = _words(text)
            case b"B":
                portal, name = message.body.split(b"\0")[:2]
                self._portals[portal] = self._prepared[name]
            case b"E":
                executed = self._executed(self._portals[message.body.split(b"\0")[0]])
                self._uncommitted = not self._in_block and executed != "COMMIT"
                return executed
            case b"S" if self._uncommitted:
                self._uncommitted = False
                return IMPLICIT_COMMIT
        return None

    def _executed(self, statement: str) -> str:
        self._in_block = statement == "BEGIN" or (self._in_block and statement not in ("COMMIT", "ROLLBACK"))
        return statement


def _words(text: bytes) -> str:
    """Return a statement on one line, without its comments."""
    lines = (line for line in text.decode().splitlines() if not line.lstrip().startswith("--"))
    return " ".join(" ".join(lines).split())
