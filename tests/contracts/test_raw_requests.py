"""What no HTTP library would send, byte by byte to the real server: each is refused cleanly, and the process stands."""

import os
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.plugins.running_service import RunningService

HOST = b"Host: service.test\r\n"
SMUGGLED = b"GET /health/live HTTP/1.1\r\nHost: service.test\r\n\r\n"
ANSWER_BYTES_MAX = 1_000_000


def post(*lines: bytes, body: bytes = b"") -> bytes:
    return b"POST /api/v1/requests HTTP/1.1\r\n" + HOST + b"".join(lines) + b"\r\n" + body


def get(*lines: bytes, target: bytes = b"/api/v1/requests/1", version: bytes = b"HTTP/1.1") -> bytes:
    return b"GET " + target + b" " + version + b"\r\n" + HOST + b"".join(lines) + b"\r\n"


# The second message of each may never be answered: it is the first one's body, or nobody's.
SMUGGLING = {
    "both lengths": post(
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", body=b"0\r\n\r\n" + SMUGGLED
    ),
    "both lengths, turned": post(
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", body=b"0\r\n\r\n" + SMUGGLED
    ),
    "two lengths": post(b"Content-Length: 0\r\nContent-Length: 53\r\n", body=SMUGGLED),
    "a list of lengths": post(b"Content-Length: 0, 53\r\n", body=SMUGGLED),
    "a signed length": post(b"Content-Length: +0\r\n", body=SMUGGLED),
    "a negative length": post(b"Content-Length: -1\r\n", body=SMUGGLED),
    "a hexadecimal length": post(b"Content-Length: 0x0\r\n", body=SMUGGLED),
    "a length beyond all": post(b"Content-Length: 99999999999999999999999\r\n", body=SMUGGLED),
    "a length with a blank name": post(b"Content-Length : 0\r\n", body=SMUGGLED),
    "an unknown coding": post(b"Transfer-Encoding: xchunked\r\n", body=b"0\r\n\r\n" + SMUGGLED),
    "chunked twice": post(b"Transfer-Encoding: chunked, chunked\r\n", body=b"0\r\n\r\n" + SMUGGLED),
    "chunked and identity": post(b"Transfer-Encoding: chunked, identity\r\n", body=b"0\r\n\r\n" + SMUGGLED),
    "a folded coding": post(b"Transfer-Encoding:\r\n chunked\r\n", body=b"0\r\n\r\n" + SMUGGLED),
    "a vertical tab": post(b"Transfer-Encoding: \x0bchunked\r\n", body=b"0\r\n\r\n" + SMUGGLED),
    "a bad chunk": post(b"Transfer-Encoding: chunked\r\n", body=b"zz\r\n" + SMUGGLED),
    "a chunk beyond all": post(b"Transfer-Encoding: chunked\r\n", body=b"f" * 40 + b"\r\n" + SMUGGLED),
    "a bare line feed": b"POST /api/v1/requests HTTP/1.1\nHost: service.test\nContent-Length: 0\n\n"
    + SMUGGLED,
    "a folded header": get(b"X-One: a\r\n b\r\n") + SMUGGLED,
    "a null in a header": get(b"X-One: a\x00b\r\n") + SMUGGLED,
    "a bare carriage return": get(b"X-One: a\rX-Two: b\r\n") + SMUGGLED,
    "a blank in a name": get(b"X One: a\r\n") + SMUGGLED,
    "no name": get(b": a\r\n") + SMUGGLED,
    "another version": get(version=b"HTTP/9.9"),
    "no method": b" /health/live HTTP/1.1\r\nHost: service.test\r\n\r\n",
    "a method beyond all": b"A" * 100_000 + b" / HTTP/1.1\r\nHost: service.test\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}

# Well formed as far as the parser goes, and refused by the application.
POISON = {
    "a control character in the path": (get(target=b"/api/v1/requests/%0a"), 404),
    "a null in the path": (get(target=b"/api/v1/requests/%00"), 404),
    "a path that leaves": (get(target=b"/api/v1/../../etc/passwd"), 404),
    "an encoded path that leaves": (get(target=b"/api/v1/requests/%2e%2e%2f%2e%2e%2fetc"), 404),
    "a path that is not UTF-8": (get(target=b"/api/v1/requests/%ff%fe"), 401),
    "a surrogate in the path": (get(target=b"/api/v1/requests/%ed%a0%80"), 401),
    "two slashes": (get(target=b"//evil.test/api/v1/requests/1"), 404),
    "an absolute target": (get(target=b"http://evil.test/api/v1/requests/1"), 401),
    "an open redirect": (get(target=b"/api/v1/requests/1/"), 404),
    "two hosts": (get(b"Host: evil.test\r\n"), 400),
    "two tokens": (get(b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400),
    "a token outside ASCII": (get(b"Authorization: Bearer \xff\r\n"), 400),
    "very many headers": (get(*(b"X-%d: a\r\n" % number for number in range(200))), 431),
    "a header of 40 KiB": (get(b"X-One: " + b"a" * 40_000 + b"\r\n"), 431),
    "a token of 20 KiB": (get(b"Authorization: Bearer " + b"a" * 20_000 + b"\r\n"), 401),
    "a form": (
        post(b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n", body=b"a=1"),
        401,
    ),
    "an unknown method": (b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n", None),
    "an upgrade": (get(b"Connection: upgrade\r\nUpgrade: websocket\r\n"), 401),
    "an upgrade to HTTP/2": (get(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"), 401),
}


@pytest.mark.parametrize("name", SMUGGLING)
def test_a_message_with_two_readings_gets_at_most_one_refusal(service: RunningService, name: str) -> None:
    process = service.process.pid
    statuses = answered(service, SMUGGLING[name])
    assert len(statuses) <= 1
    assert all(400 <= status < 500 or status == 505 for status in statuses)
    assert_stands(service, process)


@pytest.mark.parametrize("name", POISON)
def test_a_poisoned_request_is_refused_without_an_echo(service: RunningService, name: str) -> None:
    process = service.process.pid
    message, expected = POISON[name]
    text = exchanged(service, message)
    (status,) = statuses_of(text)
    assert 400 <= status < 500
    assert expected in (None, status)
    assert b"evil.test" not in text
    assert_stands(service, process)


def test_correlation_ids_that_would_split_an_answer_are_replaced(service: RunningService) -> None:
    for sent in (b"a b", b"a%0d%0aSet-Cookie:%20x=1", b"\xff", b"a" * 300, b"<script>", b""):
        text = exchanged(service, get(b"X-Correlation-Id: " + sent + b"\r\n"))
        (line,) = re.findall(rb"\r\nx-correlation-id: ([^\r]*)\r\n", text, re.IGNORECASE)
        assert re.fullmatch(rb"[0-9a-f-]{36}", line)
        assert b"Set-Cookie" not in text


def test_headers_without_end_are_cut_off(service: RunningService) -> None:
    process, before = service.process.pid, resident_bytes(service)
    with connection(service) as sent:
        try:
            sent.sendall(b"GET / HTTP/1.1\r\n" + HOST)
            for _ in range(400):
                sent.sendall(b"X-One: " + b"a" * 100_000 + b"\r\n")
            sent.sendall(b"\r\n")
        except OSError:
            pass
        (status,) = statuses_of(received(sent)) or (400,)
        assert 400 <= status < 500
    assert_stands(service, process)
    assert resident_bytes(service) < before + 100 * 1024 * 1024


def test_floods_of_refusals_leave_memory_flat(service: RunningService) -> None:
    messages = [*SMUGGLING.values(), *(message for message, _ in POISON.values())]
    for message in messages:
        exchanged(service, message)
    before = resident_bytes(service)
    for _ in range(10):
        for message in messages:
            exchanged(service, message)
    assert resident_bytes(service) < before + 20 * 1024 * 1024


def test_a_client_that_leaves_in_the_middle_of_a_body_does_no_harm(service: RunningService) -> None:
    process = service.process.pid
    token = service.user().token
    assert token is not None
    for length in (0, 1, 50):
        with connection(service) as sent:
            headers = (
                f"Authorization: Bearer {token}\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
            )
            sent.sendall(post(headers.encode(), b"Content-Length: 100\r\n", body=b"{" * length))
    assert_stands(service, process)


def answered(service: RunningService, message: bytes) -> list[int]:
    return statuses_of(exchanged(service, message))


def exchanged(service: RunningService, message: bytes) -> bytes:
    """Send a message, say that nothing follows, and return everything that comes back."""
    with connection(service) as sent:
        try:
            sent.sendall(message)
            sent.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return received(sent)


def connection(service: RunningService) -> socket.socket:
    address = urlsplit(service.process.said["apiUrl"])
    assert address.hostname is not None
    assert address.port is not None
    return socket.create_connection((address.hostname, address.port), timeout=20)


def received(sent: socket.socket) -> bytes:
    parts: list[bytes] = []
    try:
        while (part := sent.recv(65536)) and sum(map(len, parts)) < ANSWER_BYTES_MAX:
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def statuses_of(text: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", text)]


def assert_stands(service: RunningService, process: int) -> None:
    live = service.http.get(f"{service.process.said['apiUrl']}/health/live")
    assert live.status_code == 200
    assert service.process.pid == process
    assert Path(f"/proc/{process}").exists() or os.getpgid(process) > 0


def resident_bytes(service: RunningService) -> int:
    pages = int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
