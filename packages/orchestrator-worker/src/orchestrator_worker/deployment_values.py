"""Values that a catalogue only refers to: addresses and secrets, in the environment or in mounted files."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from attrs import field, frozen


class ValueUnavailable(Exception):
    """A referred value can't be had or used; the message says why and never what it is."""


@frozen(kw_only=True)
class WrittenOut:
    """The value itself, written into the catalogue."""

    value: str


@frozen(kw_only=True)
class FromEnvironment:
    variable: str


@frozen(kw_only=True)
class FromFile:
    path: Path


type Reference = WrittenOut | FromEnvironment | FromFile


_STAND_IN: Final = "https://left-to-the-deployment.invalid"


def _read_file(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@frozen(kw_only=True)
class DeploymentValues:
    """Look references up. Files are read anew each time, so that what they hold may rotate.

    With `are_stand_ins` they say nothing of a deployment, as when a catalogue is checked where it is written.
    """

    environment: Mapping[str, str] = field(factory=dict, repr=False)
    read_file: Callable[[Path], str] = _read_file
    are_stand_ins: bool = False

    def value_of(self, reference: Reference) -> str:
        """Return the value without the line break at its end; raise ValueUnavailable if there is none."""
        value = self._found(reference).removesuffix("\n").removesuffix("\r")
        if not value:
            raise ValueUnavailable("The value is empty.")
        return value

    def _found(self, reference: Reference) -> str:
        match reference:
            case WrittenOut():
                return reference.value
            case FromEnvironment():
                if reference.variable not in self.environment:
                    raise ValueUnavailable(f"The environment variable {reference.variable} isn't set.")
                return self.environment[reference.variable]
            case FromFile():
                return self._file_content(reference.path)

    def _file_content(self, path: Path) -> str:
        try:
            return self.read_file(path)
        except (OSError, UnicodeDecodeError):
            raise ValueUnavailable(f"The file {path} can't be read as UTF-8 text.") from None


def stand_ins() -> DeploymentValues:
    """Return values that are all there and mean nothing, for whoever reads a catalogue and calls nobody by it."""
    return DeploymentValues(environment=_AnyVariable(), read_file=lambda _: _STAND_IN, are_stand_ins=True)


class _AnyVariable(Mapping[str, str]):
    """An environment in which every variable is set."""

    def __getitem__(self, name: str) -> str:
        return _STAND_IN

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return True


def checked_header_value(value: str) -> str:
    """Return a value that may stand in a header; raise ValueUnavailable if it holds anything but visible ASCII."""
    if not all("\x21" <= character <= "\x7e" for character in value):
        raise ValueUnavailable("The value holds a character that can't stand in a header.")
    return value


def checked_base_url(value: str) -> str:
    """Return the URL without a slash at its end; raise ValueUnavailable if it is more or less than a place to call.

    User information, backslashes, queries and fragments are refused: with them a URL may have another host than it
    seems to.
    """
    if not all("\x21" <= character <= "\x7e" for character in value) or set(value) & set("\\@?#{}"):
        raise ValueUnavailable("A base URL is scheme, host, port and path in plain characters, nothing else.")
    try:
        parts = urlsplit(value)
        has_place = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_place = False
    if not has_place:
        raise ValueUnavailable("A base URL starts with http:// or https:// and a host.")
    return value.rstrip("/")


def is_private_way(url: str) -> bool:
    """Say whether nobody on the way to a base URL can read or change what goes there: https, or this machine."""
    parts = urlsplit(url)
    try:
        return parts.scheme == "https" or parts.hostname == "localhost" or _is_loopback(parts.hostname or "")
    except ValueError:
        return False


class PlainHttpRefused(Exception):
    """A call would go unencrypted to another machine, and its endpoint doesn't allow that."""


def require_private_way(url: str, *, plain_http_allowed: bool) -> None:
    """Raise PlainHttpRefused for a way that others can read, unless it is allowed.

    Asked at each call, for an address in a file may be replaced while the process runs.
    """
    if not plain_http_allowed and not is_private_way(url):
        raise PlainHttpRefused


def _is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback
