"""The page of problem codes, from the table that answers are made by and the page of each code."""

import re
from pathlib import Path

from tools.reference.wording import page, table

from orchestrator_http.problem import PROBLEMS

_HEAD = """\
Every refusal and failure of the API is `application/problem+json` (RFC 9457): `code` is stable and meant for programs,
`detail` is a sentence for people and may change, `correlationId` is what operators look for in logs. `pointer`, where
there is one, is the JSON Pointer of the place in the body that is meant.

A failure after an event was accepted is no problem of HTTP: it is the `errorCode` of the execution
([Execution errors](execution-errors.md))."""


def problems_page(pages: Path) -> str:
    """Return the page; each code leads to its own, in `pages`."""
    rows = [
        (str(kind.status), f"[`{name}`](../problems/{name}.md)", kind.title, _remedy(pages / f"{name}.md"))
        for name, kind in PROBLEMS.items()
    ]
    return page("Problem codes", _HEAD, table(("status", "code", "title", "remedy"), rows))


def _remedy(file: Path) -> str:
    found = re.search(r"^## Remedy\n\n(.*?)\n\n", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    if found is None:
        raise KeyError(f"{file.name} tells no remedy.")
    return found[1]
