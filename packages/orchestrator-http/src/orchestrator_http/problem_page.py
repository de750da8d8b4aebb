"""From the Markdown of the catalogue's pages to HTML: headings, paragraphs, code, and nothing else."""

import re
from collections.abc import Iterator
from html import escape
from typing import Final

_CODE: Final = re.compile(r"`([^`]+)`")
_HEADING: Final = re.compile(r"(#{1,2}) (.+)")
_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:45rem;margin:0 auto;padding:1rem}pre{overflow:auto}"
)


def problem_page(markdown: str) -> str:
    """Return the page; whatever the text holds, it is shown and never interpreted."""
    title = escape(markdown.partition("\n")[0].removeprefix("# "))
    body = "\n".join(_block(block) for block in _blocks(markdown))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _blocks(markdown: str) -> Iterator[str]:
    for number, part in enumerate(markdown.split("```")):
        if number % 2:
            yield "```" + part.partition("\n")[2]
        else:
            yield from (block.strip() for block in part.split("\n\n") if block.strip())


def _block(block: str) -> str:
    if block.startswith("```"):
        return f"<pre>{escape(block.removeprefix('```'))}</pre>"
    heading = _HEADING.fullmatch(block)
    if heading is not None:
        level = len(heading[1])
        return f"<h{level}>{escape(heading[2])}</h{level}>"
    return f"<p>{_CODE.sub(r'<code>\1</code>', escape(block))}</p>"
