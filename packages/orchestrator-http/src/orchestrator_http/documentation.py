"""The contract, a page that shows it, and the pages of the problem catalogue: for people, and without any data.

Everything is read from the package when the routes are made, so a page that is missing stops the start; the pages of
problems are laid out when somebody asks for them, which few ever do.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from attrs import field, frozen
from starlette.responses import Response

from orchestrator_domain.errors import NotFound
from orchestrator_http.problem import PROBLEMS
from orchestrator_http.problem_page import problem_page

_PUBLISHED: Final = files("orchestrator_http").joinpath("published")
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "public, max-age=300",
    # Nothing comes from elsewhere, and nothing in a document may run.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


def _published(place: str) -> bytes:
    return _PUBLISHED.joinpath(place).read_bytes()


def _problem_texts() -> Mapping[str, str]:
    return {code: _published(f"problems/{code}.md").decode() for code in PROBLEMS}


@frozen(kw_only=True)
class DocumentationHandlers:
    """Serve documents; nobody needs a token for them."""

    _problems: Mapping[str, str] = field(factory=_problem_texts)
    _yaml: bytes = field(factory=lambda: _published("openapi.yaml"))
    _json: bytes = field(factory=lambda: _published("openapi.json"))
    _page: bytes = field(factory=lambda: _published("contract.html"))
    _script: bytes = field(factory=lambda: _published("contract.js"))

    async def contract_as_yaml(self, _names: Mapping[str, str]) -> Response:
        return _document(self._yaml, "application/yaml")

    async def contract_as_json(self, _names: Mapping[str, str]) -> Response:
        return _document(self._json, "application/json")

    async def page(self, _names: Mapping[str, str]) -> Response:
        return _document(self._page, "text/html; charset=utf-8")

    async def script(self, _names: Mapping[str, str]) -> Response:
        return _document(self._script, "text/javascript; charset=utf-8")

    async def problem(self, names: Mapping[str, str]) -> Response:
        """Show the page that the `type` of a problem points at."""
        text = self._problems.get(names["code"])
        if text is None:
            raise NotFound("There is no problem with this code.")
        return _document(problem_page(text).encode(), "text/html; charset=utf-8")


def _document(content: bytes, media_type: str) -> Response:
    return Response(content, headers={**_HEADERS, "Content-Type": media_type})
