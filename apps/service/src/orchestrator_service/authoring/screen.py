"""What commands print: coloured on a terminal, plain when piped, never wrapped by us."""

import sys

from rich.console import Console
from rich.text import Text

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonValue


def show(*parts: str | tuple[str, str]) -> None:
    """Print one line of texts, each plain or with a style; styles are seen on terminals only."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    console.print(Text.assemble(*parts), soft_wrap=True)


def write_json(value: JsonValue) -> None:
    """Print a value for machines, on one line and with exact numbers."""
    print(dump_json(value))
