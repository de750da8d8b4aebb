"""Reading single environment variables, so that every fault of a configuration is told at once."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from attrs import define, field

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonValue

_FLAGS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
_NEAR = 0.88
# What Kubernetes sets for each service of a namespace, whatever its name, and systemd for sockets that it hands over.
_OF_OTHERS = re.compile(
    r"_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$"
    r"|^LISTEN_(PID|PIDFDID|FDS|FDNAMES)$"
)
_DATABASE_SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")


class SettingsInvalid(OrchestratorError):
    """The environment doesn't configure the service; `faults` holds one sentence per fault, without values."""

    code = "SETTINGS_INVALID"

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("The settings have faults: " + " ".join(faults))
        self.faults = faults


@define
class Environment:
    """Read variables by name and remember what was wrong with them; `variables` is never changed or printed."""

    variables: Mapping[str, str] = field(repr=False)
    faults: list[str] = field(factory=list)
    _asked: set[str] = field(factory=set, init=False)

    def text(self, name: str, default: str | None = None) -> str | None:
        """Return the variable without surrounding white space; empty counts as not set."""
        self._asked.add(name)
        value = self.variables.get(name, "").strip()
        return value or default

    def required(self, name: str, purpose: str) -> str:
        value = self.text(name)
        if value is None:
            self.faults.append(f"{name} is not set; it holds {purpose}.")
            return ""
        return value

    def database_url(self, name: str, purpose: str) -> str:
        """Return a URL of PostgreSQL, in libpq's or in SQLAlchemy's way of writing it."""
        value = self.required(name, purpose)
        if value and not value.startswith(_DATABASE_SCHEMES):
            self.faults.append(f"{name} is not a URL of PostgreSQL; it begins with postgresql://.")
        elif value and not _can_be_split(value):
            self.faults.append(f"{name} is not a URL that can be read; check its host and port.")
        return value

    def flag(self, name: str) -> bool:
        """Return a switch, off unless it is turned on."""
        value = self.text(name, "false")
        assert value is not None
        if value.lower() not in _FLAGS:
            self.faults.append(f"{name} is neither true nor false.")
        return _FLAGS.get(value.lower(), False)

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        return int(self._number(name, default, int, least, most))

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
        return self._number(name, default, float, least, most)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a comma-separated list."""
        value = self.text(name, "")
        assert value is not None
        return tuple(word.strip() for word in value.split(",") if word.strip())

    def json(self, name: str) -> JsonValue:
        """Return the parsed JSON of a variable, None when it isn't set or isn't JSON (a fault)."""
        value = self.text(name)
        if value is None:
            return None
        try:
            return parse_json(value)
        except OrchestratorError as fault:
            self.faults.append(f"{name} is not strict JSON: {fault.message}")
            return None

    def look_for_typing_errors(self, *prefixes: str) -> None:
        """Name each variable under our own prefixes that is nearly one that was asked for.

        What isn't like any of them is somebody else's: our prefixes are common words.
        """
        for name in sorted(self.variables):
            if name.startswith(prefixes) and name not in self._asked and not _OF_OTHERS.search(name):
                for near in get_close_matches(name, self._asked, n=1, cutoff=_NEAR):
                    self.faults.append(f"{name} is not a setting of this service; did you mean {near}?")

    def check(self, *, that: bool, otherwise: str) -> None:
        if not that:
            self.faults.append(otherwise)

    def _number(
        self, name: str, default: float, read: Callable[[str], float], least: float, most: float
    ) -> float:
        value = self.text(name)
        if value is None:
            return default
        try:
            # Python also reads the digits of other scripts, which nobody means to write here.
            number = read(value if value.isascii() else "")
        except ValueError:
            self.faults.append(f"{name} is not a number.")
            return default
        if not least <= number <= most:
            self.faults.append(f"{name} must be between {least} and {most}.")
            return default
        return number


def _can_be_split(url: str) -> bool:
    """Say whether hosts and ports can be read; a URL of PostgreSQL may name several hosts."""
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
        return all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        return False
