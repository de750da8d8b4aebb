"""Reading and sending the requests of a `.http` file as a REST client does."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx2
from attrs import define, field, frozen
from tests.plugins.patience import wait_until

from orchestrator_domain.exact_json.text import parse_json

_TITLE: Final = re.compile(r"### (?P<title>.+) · Answer (?P<status>\d{3})")
_VARIABLE: Final = re.compile(r"@(\w+) = (.+)")
_NAME: Final = re.compile(r"# @name (\w+)")
_REFERENCE: Final = re.compile(r"\{\{([\w.$-]+)\}\}")
_ENDED: Final = frozenset({"SUCCEEDED", "FAILED", "RECONCILIATION_REQUIRED"})


@frozen(kw_only=True)
class FileRequest:
    """One request as it is written, references included, and the status that it announces."""

    title: str
    status: int
    name: str | None
    method: str
    url: str
    headers: Mapping[str, str]
    body: str


def variables_of(file: Path) -> dict[str, str]:
    return dict(_VARIABLE.findall(file.read_text(encoding="utf-8").partition("\n###")[0]))


def requests_of(file: Path) -> Iterator[FileRequest]:
    """Yield the requests in their order; a body `< path` is that file's content."""
    for part in re.split(r"^(?=### )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        title = _TITLE.fullmatch(lines[0])
        assert title is not None, lines[0]
        named = [found[1] for found in map(_NAME.fullmatch, lines) if found]
        head, _, body = "\n".join(line for line in lines[1:] if not line.startswith("#")).partition("\n\n")
        first, *headers = head.splitlines()
        method, url = first.split(" ", 1)
        yield FileRequest(
            title=title["title"],
            status=int(title["status"]),
            name=named[0] if named else None,
            method=method,
            url=url,
            headers=dict(header.split(": ", 1) for header in headers),
            body=_body(body.strip(), file),
        )


def _body(written: str, file: Path) -> str:
    if not written.startswith("< "):
        return written
    return (file.parent / written.removeprefix("< ")).read_text(encoding="utf-8")


@define(kw_only=True)
class RestClient:
    """Send the requests of a file one after the other; later ones may refer to answers of named ones."""

    http: httpx2.Client
    variables: Mapping[str, str]
    answers: dict[str, httpx2.Response] = field(factory=dict)

    def send(self, request: FileRequest) -> httpx2.Response:
        """Send a request; an execution is asked for again until it has ended, as the file tells its reader to."""
        answer = self._sent(request)
        if "/executions/" in request.url:
            answer = wait_until("the end of an execution", lambda: self._ended(request))
        if request.name is not None:
            self.answers[request.name] = answer
        return answer

    def _ended(self, request: FileRequest) -> httpx2.Response | None:
        answer = self._sent(request)
        return answer if answer.json().get("status") in _ENDED else None

    def _sent(self, request: FileRequest) -> httpx2.Response:
        return self.http.request(
            request.method,
            self._resolved(request.url),
            headers={name: self._resolved(value) for name, value in request.headers.items()},
            content=self._resolved(request.body).encode(),
        )

    def _resolved(self, text: str) -> str:
        return _REFERENCE.sub(lambda found: self._value(found[1]), text)

    def _value(self, reference: str) -> str:
        if reference in self.variables:
            return self.variables[reference]
        name, _, part = reference.partition(".response.")
        answer = self.answers[name]
        if part.startswith("headers."):
            return answer.headers[part.removeprefix("headers.")]
        value: Any = parse_json(answer.content)
        for member in part.removeprefix("body.$.").split("."):
            value = value[member]
        return str(value)
