"""What a collector answers can neither fill the process nor keep the next spans waiting."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from requests import ReadTimeout

from orchestrator_service.collector_answers import session_without_bodies

DRIPPING = -1


@contextmanager
def collector_without_end(status: int) -> Iterator[tuple[str, Event]]:
    """Answer with a status and a body that goes on until the reader has gone, and tell when it has."""
    gone = Event()

    class Endless(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if status == DRIPPING:
                self.drip()
                return
            self.send_response(status, "so it is")
            self.send_header("Location", "/elsewhere")
            self.send_header("Retry-After", "7")
            self.end_headers()
            try:
                for _ in range(4096):
                    self.wfile.write(b"x" * 65536)
            except OSError:
                gone.set()

        def drip(self) -> None:
            try:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
                for _ in range(500):
                    self.wfile.write(b"x")
                    gone.wait(0.02)
                self.wfile.write(b"\r\n\r\n")
            except OSError:
                gone.set()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", gone
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("status", [200, 302, 400, 503])
def test_of_an_answer_without_end_only_status_and_headers_are_taken(status: int) -> None:
    with collector_without_end(status) as (url, gone), session_without_bodies() as session:
        answer = session.post(url, data=b"spans", timeout=5, allow_redirects=False)
        assert gone.wait(5)
    assert (answer.status_code, answer.reason, answer.headers["Retry-After"]) == (status, "so it is", "7")
    assert answer.content == b""


def test_a_head_that_drips_is_cut_off() -> None:
    with collector_without_end(DRIPPING) as (url, gone), session_without_bodies() as session:
        with pytest.raises(ReadTimeout):
            session.post(url, data=b"spans", timeout=0.2)
        assert gone.wait(5)
