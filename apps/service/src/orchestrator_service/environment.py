"""Reading single environment variables, so that every fault of a configuration is told at once."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from attrs import define, field, frozen

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
# What Kubernetes sets as NAME_PORT in the pods beside a service called NAME.
_SERVICE_LINK = re.compile(r"(tcp|udp|sctp)://")


class SettingsInvalid(OrchestratorError):
    """The environment doesn't configure the service; `faults` holds one sentence per fault, without values."""

    code = "SETTINGS_INVALID"

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("The settings have faults: " + " ".join(faults))
        self.faults = faults


@frozen(kw_only=True)
class Setting:
    """What was asked of one variable: its form, its default and, of a number, its bounds."""

    name: str
    form: str = "text"
    default: str | None = None
    least: float | None = None
    most: float | None = None
    required: bool = False


@define
class Environment:
    """Read variables by name and remember what was wrong with them; `variables` is never changed or printed.

    `asked` holds what was asked for, by name.
    """

    variables: Mapping[str, str] = field(repr=False)
    faults: list[str] = field(factory=list)
    asked: dict[str, Setting] = field(factory=dict, init=False)

    def text(self, name: str, default: str | None = None) -> str | None:
        """Return the variable without surrounding white space; empty counts as not set."""
        return self._text(Setting(name=name, default=default))

    def file(self, name: str) -> Path | None:
        """Return the path of a file that has to be there; None when none is named."""
        text = self._text(Setting(name=name, form="file"))
        if text is None:
            return None
        path = Path(text)
        self.check(that=path.is_file(), otherwise=f"{name} names a file that can't be found.")
        return path

    def one_of(self, name: str, default: str, known: tuple[str, ...]) -> str:
        """Return one of the known words, in capitals."""
        word = (self._text(Setting(name=name, form=", ".join(known), default=default)) or default).upper()
        self.check(that=word in known, otherwise=f"{name} must be one of {', '.join(known)}.")
        return word if word in known else default

    def database_url(self, name: str, purpose: str) -> str:
        """Return a URL of PostgreSQL, in libpq's or in SQLAlchemy's way of writing it."""
        value = self._text(Setting(name=name, form="URL of PostgreSQL", required=True)) or ""
        if not value:
            self.faults.append(f"{name} is not set; it holds {purpose}.")
        elif not value.startswith(_DATABASE_SCHEMES):
            self.faults.append(f"{name} is not a URL of PostgreSQL; it begins with postgresql://.")
        elif value and not _can_be_split(value):
            self.faults.append(f"{name} is not a URL that can be read; check its host and port.")
        return value

    def flag(self, name: str) -> bool:
        """Return a switch, off unless it is turned on."""
        value = self._text(Setting(name=name, form="true or false", default="false"))
        assert value is not None
        if value.lower() not in _FLAGS:
            self.faults.append(f"{name} is neither true nor false.")
        return _FLAGS.get(value.lower(), False)

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        return int(self._number("whole number", name, default, int, least, most))

    def optional_integer(self, name: str, *, least: int, most: int) -> int | None:
        if not self.variables.get(name, "").strip():
            self.asked[name] = Setting(name=name, form="whole number", least=least, most=most)
            return None
        return self.integer(name, least, least=least, most=most)

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
        return self._number("seconds", name, default, float, least, most)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a comma-separated list."""
        value = self._text(Setting(name=name, form="list, separated by commas")) or ""
        return tuple(word.strip() for word in value.split(",") if word.strip())

    def json(self, name: str) -> JsonValue:
        """Return the parsed JSON of a variable, None when it isn't set or isn't JSON (a fault)."""
        value = self._text(Setting(name=name, form="JSON"))
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
            if name.startswith(prefixes) and name not in self.asked and not _OF_OTHERS.search(name):
                for near in get_close_matches(name, self.asked, n=1, cutoff=_NEAR):
                    self.faults.append(f"{name} is not a setting of this service; did you mean {near}?")

    def check(self, *, that: bool, otherwise: str) -> None:
        if not that:
            self.faults.append(otherwise)

    def _text(self, setting: Setting) -> str | None:
        self.asked[setting.name] = setting
        return self.variables.get(setting.name, "").strip() or setting.default

    def _number(
        self, form: str, name: str, default: float, read: Callable[[str], float], least: float, most: float
    ) -> float:
        asked = Setting(name=name, form=form, default=str(default), least=least, most=most)
        value = self._text(asked) or str(default)
        if name.endswith("_PORT") and _SERVICE_LINK.match(value):
            self.faults.append(
                f"{name} holds what Kubernetes sets beside a service called {name.removesuffix('_PORT').lower()}, not "
                "a port: set enableServiceLinks to false in the pod, or give the service another name."
            )
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
