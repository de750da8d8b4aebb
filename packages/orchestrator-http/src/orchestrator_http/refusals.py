"""What the HTTP edge itself refuses, beside what the use cases refuse: the same tree, each leaf with a stable code."""

from typing import ClassVar

from orchestrator_domain.errors import OrchestratorError


class InvalidHeader(OrchestratorError):
    """A header can't be taken as it is sent; the message names it and never quotes its value."""

    code: ClassVar[str] = "INVALID_HEADER"


class InvalidQuery(OrchestratorError):
    """A query parameter can't be taken; the message names it only where it is one of ours."""

    code: ClassVar[str] = "INVALID_QUERY"


class InvalidCursor(OrchestratorError):
    """The cursor is forged, damaged, or of another list, reader or filter; which of these is told to nobody."""

    code: ClassVar[str] = "INVALID_CURSOR"


class HeadersTooLarge(OrchestratorError):
    code: ClassVar[str] = "HEADERS_TOO_LARGE"


class IdempotencyKeyRequired(OrchestratorError):
    code: ClassVar[str] = "IDEMPOTENCY_KEY_REQUIRED"


class InvalidBody(OrchestratorError):
    """The body is JSON, but not of the shape that this route takes; `pointer` says where."""

    code: ClassVar[str] = "INVALID_BODY"


class BodyTooLarge(OrchestratorError):
    code: ClassVar[str] = "BODY_TOO_LARGE"


class BodyTooSlow(OrchestratorError):
    code: ClassVar[str] = "REQUEST_TIMEOUT"


class UnsupportedMediaType(OrchestratorError):
    code: ClassVar[str] = "UNSUPPORTED_MEDIA_TYPE"


class MethodNotAllowed(OrchestratorError):
    """The path exists, but not with this method; `allowed` lists those it has."""

    code: ClassVar[str] = "METHOD_NOT_ALLOWED"

    def __init__(self, message: str, *, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


class NotAuthenticated(OrchestratorError):
    """Nobody is known to act. `challenge` is the value of WWW-Authenticate (RFC 6750, section 3).

    Why a token was refused is told to nobody: whoever forges one must not learn how far it got.
    """

    code: ClassVar[str] = "NOT_AUTHENTICATED"

    def __init__(self, message: str, *, challenge: str) -> None:
        super().__init__(message)
        self.challenge = challenge


class AuthenticationUnavailable(OrchestratorError):
    """The issuer's keys have never been read, or too long ago, so that no token of it can be judged now."""

    code: ClassVar[str] = "AUTHENTICATION_UNAVAILABLE"


class NotReady(OrchestratorError):
    code: ClassVar[str] = "NOT_READY"


class ClientGone(Exception):
    """The client closed the connection before its request was read; nobody is left to answer."""
