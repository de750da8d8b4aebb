"""How a collector's answers are taken: status and headers, in time, and nothing of what follows them.

The exporter looks at no body, yet the library under it reads one whole, however long it is; and its timeout begins anew
with each byte that comes. Imported only where the extra `otlp` is installed.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from threading import Event, Timer
from typing import Any

from requests import PreparedRequest, ReadTimeout, Response, Session
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool


def session_without_bodies() -> Session:
    """Return what sends spans: the body of no answer is read, and a connection with an unread one is closed."""
    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _HeadsOfAnswers())
    return session


class _HeadsOfAnswers(HTTPAdapter):
    """Take the head of an answer; one that isn't whole within the timeout is none."""

    _latest: Any = None
    """The connection in use: spans are sent by one thread, to one address."""

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,  # noqa: FBT001, FBT002
        cert: str | tuple[str, str] | None = None,
        proxies: dict[str, str] | None = None,
    ) -> Response:
        cut = Event()
        with self._cut_off_after(timeout, cut):
            answer = super().send(request, stream, timeout, verify, cert, proxies)
        # Here and not in the session, which reads the body of a redirection before it returns it.
        answer.close()
        if cut.is_set():
            # A head that ends early passes for a whole one.
            raise ReadTimeout("The collector's answer didn't come in time.", request=request)
        answer.raw = BytesIO()
        return answer

    @contextmanager
    def _cut_off_after(self, timeout: object, cut: Event) -> Iterator[None]:
        if not isinstance(timeout, (int, float)):
            yield
            return
        timer = Timer(timeout, self._cut_off, [cut])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut_off(self, cut: Event) -> None:
        cut.set()
        connection = self._latest
        if connection is None or connection.sock is None:
            return
        with suppress(OSError):
            # The plain method wakes whoever reads; TLS's own would take the session from under the reader.
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def get_connection_with_tls_context(self, *given: Any, **named: Any) -> HTTPConnectionPool:
        pool = super().get_connection_with_tls_context(*given, **named)
        made_by = type(pool).ConnectionCls

        def noted(*arguments: Any, **options: Any) -> Any:
            self._latest = made = made_by(*arguments, **options)
            return made

        pool.ConnectionCls = noted  # type: ignore[assignment]
        return pool
