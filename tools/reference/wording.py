"""How pages are put together: the note at their head, and tables of Markdown."""

import re
from collections.abc import Iterable, Sequence

MADE = "<!-- Made by `make reference`; change the code that it is made of instead. -->"


def page(title: str, *parts: str) -> str:
    """Return a page that says that it is made."""
    return "\n\n".join((MADE, f"# {title}", *(part for part in parts if part))) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; what is in a cell can't end it."""
    lines = [_row(heads), _row(["---"] * len(heads)), *(_row([_cell(cell) for cell in row]) for row in rows)]
    return "\n".join(lines)


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Return text in which nothing outside of code can be taken for a tag."""
    outside = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in outside)


def _cell(text: str) -> str:
    return plain(" ".join(text.split())).replace("|", "\\|")
