"""The files that a deployment is made of, read as data."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # its types come as a distribution of their own, for one line of use
from attrs import define, field

from orchestrator_service.cli import command_parser
from orchestrator_service.known_settings import known_settings

ROOT = Path(__file__).parents[2]
PASSED_ON = {"PROVIDERS_URL"}
SETTINGS = known_settings().keys() | PASSED_ON


def documents(file: str) -> list[Any]:
    """Return the documents of a YAML file of the repository."""
    return list(yaml.safe_load_all((ROOT / file).read_text(encoding="utf-8")))


def is_a_command(arguments: list[str]) -> bool:
    """Say whether `orchestrator` takes these arguments; its own parser would end the process."""
    try:
        command_parser().parse_args(arguments)
    except SystemExit:
        return False
    return True


@define(kw_only=True)
class Stage:
    """One stage of a Dockerfile: what it begins with and the instructions in it."""

    name: str
    base: str
    instructions: list[tuple[str, str]] = field(factory=list)

    def all(self, instruction: str) -> Iterator[str]:
        return (value for name, value in self.instructions if name == instruction)

    def last(self, instruction: str) -> str:
        return list(self.all(instruction))[-1]

    def environment(self) -> Mapping[str, str]:
        pairs = (word.partition("=") for line in self.all("ENV") for word in shlex.split(line))
        return {name: value for name, _, value in pairs}


def stages() -> list[Stage]:
    """Return the stages of the Dockerfile in their order."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: list[Stage] = []
    for line in filter(None, map(str.strip, text.replace("\\\n", " ").splitlines())):
        name, _, value = line.partition(" ")
        if name == "FROM":
            base, _, alias = value.partition(" AS ")
            found.append(Stage(name=alias, base=base))
        else:
            found[-1].instructions.append((name, " ".join(value.split())))
    return found
