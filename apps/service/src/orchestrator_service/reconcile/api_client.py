"""Speak with the API as an operator: one host, no proxy, no redirect, bounded answers."""

from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import ClassVar, Final, Self
from urllib.parse import SplitResult, urlsplit

from attrs import field, frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.text import MalformedJson, dump_json, parse_json
from orchestrator_domain.exact_json.value import JsonObject

_BASE_PATH: Final = "/api/v1"
_SECONDS_MAX: Final = 30.0
_ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024


class ApiUnusable(OrchestratorError):
    """The API can't be reached, or isn't named as it must be."""

    code: ClassVar[str] = "API_UNUSABLE"


class Refused(OrchestratorError):
    """The API answered with a problem; `code` is the problem's."""

    def __init__(self, problem: JsonObject, status: int) -> None:
        super().__init__(str(problem.get("detail", f"The API answered with status {status}.")))
        self.problem = problem
        self.problem_code = str(problem.get("code", status))


@frozen(kw_only=True)
class ApiClient:
    """Ask the API under one access token."""

    url: SplitResult
    token: str = field(repr=False)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Self:
        """Read ORCHESTRATOR_URL and ORCHESTRATOR_TOKEN; raise ApiUnusable for what can't be used."""
        url = urlsplit(variables.get("ORCHESTRATOR_URL", ""))
        token = variables.get("ORCHESTRATOR_TOKEN", "").strip()
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query:
            raise ApiUnusable("ORCHESTRATOR_URL must name the API, as in https://orchestrator.example.")
        if not token or not token.isascii() or not token.isprintable():
            raise ApiUnusable("ORCHESTRATOR_TOKEN must hold an access token of an EXECUTION_OPERATOR.")
        return cls(url=url, token=token)

    def get(self, path: str) -> JsonObject:
        """Return what is at a path below /api/v1. Raises Refused or ApiUnusable."""
        return self._answer("GET", path, None, {})

    def post(self, path: str, body: JsonObject, *, key: str) -> JsonObject:
        """Send a command under an Idempotency-Key and return its answer. Raises Refused or ApiUnusable."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self._answer("POST", path, dump_json(body).encode(), headers)

    def _answer(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> JsonObject:
        lines = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", **headers}
        target = self.url.path.rstrip("/") + _BASE_PATH + path
        try:
            status, text = self._exchanged(method, target, content, lines)
            value = parse_json(text)
        except (OSError, HTTPException, ValueError) as fault:
            raise ApiUnusable(f"The API doesn't answer ({type(fault).__name__}).") from None
        except MalformedJson:
            raise ApiUnusable("What answers at ORCHESTRATOR_URL doesn't answer in JSON.") from None
        if not isinstance(value, dict):
            raise ApiUnusable("What answers at ORCHESTRATOR_URL is not this API.")
        if status != 200:
            raise Refused(value, status)
        return value

    def _exchanged(
        self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        kind = HTTPSConnection if self.url.scheme == "https" else HTTPConnection
        assert self.url.hostname is not None, "it was checked when it was read"
        connection = kind(self.url.hostname, self.url.port, timeout=_SECONDS_MAX)
        try:
            connection.request(method, target, body=content, headers=dict(headers))
            answer = connection.getresponse()
            text = answer.read(_ANSWER_BYTES_MAX + 1)
        finally:
            connection.close()
        if len(text) > _ANSWER_BYTES_MAX:
            raise ApiUnusable("The API answered with more than this command takes.")
        return answer.status, text
