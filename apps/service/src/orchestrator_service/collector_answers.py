"""How a collector's answers are taken: status and headers, and nothing of what follows them.

The exporter looks at no body, yet the library under it reads one whole, however long it is and however slowly it comes.
Imported only where the extra `otlp` is installed.
"""

from io import BytesIO

from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter


def session_without_bodies() -> Session:
    """Return what sends spans: the body of no answer is read, and a connection with an unread one is closed."""
    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _AnswersWithoutBodies())
    return session


class _AnswersWithoutBodies(HTTPAdapter):
    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,  # noqa: FBT001, FBT002
        cert: str | tuple[str, str] | None = None,
        proxies: dict[str, str] | None = None,
    ) -> Response:
        answer = super().send(request, stream, timeout, verify, cert, proxies)
        # Here and not in the session, which reads the body of a redirection before it returns it.
        answer.close()
        answer.raw = BytesIO()
        return answer
