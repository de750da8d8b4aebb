"""Whatever is sent, the answer is a clean 4xx problem and nothing is stored."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
from starlette.types import Message, Scope
from tests.plugins.http_service import API, HttpService, http_service, json_of, problem_of
from tests.plugins.token_desk import token

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_http.services import HttpSettings

REQUESTS = f"{API}/requests"
KEY = {"Idempotency-Key": "create-1"}


@pytest.fixture
def service() -> HttpService:
    return http_service(
        HttpSettings(request_api_enabled=True, flow_admin_enabled=True, request_body_bytes_max=10_000)
    )


async def creation(service: HttpService, body: bytes, **headers: str) -> dict[str, object]:
    """Send a creation and return its problem, having seen that nothing was stored and nothing surprised."""
    answer = await service.call("POST", REQUESTS, body=body, headers={**KEY, **headers})
    assert 400 <= answer.status_code < 500, answer.text
    assert not service.store.requests.rows
    assert not service.unexpected
    return {**problem_of(answer, answer.status_code)}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut"),
        pytest.param(b'{"typeKey":' + b"[" * 5000 + b"]" * 4000, id="deep"),
        pytest.param(
            b'{"typeKey":"L","data":' + b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"}", id="deep objects"
        ),
        pytest.param(b'{"typeKey":"L","data":{"n":1e999999999}}', id="exponent bomb"),
        pytest.param(b'{"typeKey":"L","data":{"n":' + b"9" * 5000 + b"}}", id="digit bomb"),
        pytest.param(b'{"typeKey":"L","data":{"n":NaN}}', id="NaN"),
        pytest.param(b'{"typeKey":"L","data":{"n":-Infinity}}', id="infinity"),
        pytest.param(b'{"typeKey":"L","data":{"n":01}}', id="leading zero"),
        pytest.param(b'{"typeKey":"A","typeKey":"B"}', id="duplicate member"),
        pytest.param(b'{"typeKey":"A","data":{"a":1,"a":2}}', id="duplicate member within data"),
        pytest.param(b'{"typeKey":"L\\u0000"}', id="escaped NUL"),
        pytest.param(b'{"typeKey":"L","data":{"\\u0000":1}}', id="escaped NUL in a name"),
        pytest.param(b'{"typeKey":"L\x00"}', id="raw NUL"),
        pytest.param(b'{"typeKey":"\\ud800"}', id="lone surrogate"),
        pytest.param(b'{"typeKey":"L","data":{"\\udfff":1}}', id="lone surrogate in a name"),
        pytest.param(b'{"typeKey":"\xed\xa0\x80"}', id="encoded surrogate"),
        pytest.param(b'{"typeKey":"\xff"}', id="not UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"typeKey":"L"}', id="byte order mark"),
        pytest.param('{"typeKey":"L"}'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"typeKey":"L"}'.encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(b'{"typeKey":"L"} {}', id="two values"),
        pytest.param(b"{'typeKey':'L'}", id="single quotes"),
        pytest.param(b'{"typeKey":"L",}', id="trailing comma"),
        pytest.param(b'{"typeKey":"' + b'\\"' * 4000, id="unterminated string"),
    ],
)
async def test_a_body_that_is_no_strict_json_is_refused(service: HttpService, body: bytes) -> None:
    problem = await creation(service, body, **{"Content-Type": "application/json"})
    assert (problem["status"], problem["code"]) == (400, "MALFORMED_JSON")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b"[]", ""),
        (b"null", ""),
        (b'"typeKey"', ""),
        (b"{}", "/typeKey"),
        (b'{"typeKey":7}', "/typeKey"),
        (b'{"typeKey":null}', "/typeKey"),
        (b'{"typeKey":["LENDING"]}', "/typeKey"),
        (b'{"typeKey":"L","data":[]}', "/data"),
        (b'{"typeKey":"L","data":null}', "/data"),
        (b'{"typeKey":"L","data":"{}"}', "/data"),
        (b'{"typeKey":"L","businessScope":["NORTH"]}', "/businessScope"),
        (b'{"typeKey":"L","owner":"clerk-9"}', "/owner"),
        (b'{"typeKey":"L","a/b~c":1}', "/a~1b~0c"),
        (b'{"typeKey":"L","__proto__":{}}', "/__proto__"),
    ],
)
async def test_a_body_of_another_shape_is_refused_at_its_place(
    service: HttpService, body: bytes, pointer: str
) -> None:
    problem = await creation(service, body)
    assert (problem["status"], problem["code"], problem["pointer"]) == (400, "INVALID_BODY", pointer)


async def test_a_malformed_body_is_answered_with_its_line_and_column(service: HttpService) -> None:
    problem = await creation(service, b'{"typeKey":\n  nope}')
    assert (problem["line"], problem["column"]) == (2, 4)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/problem+json",
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "",
    ],
)
async def test_any_other_media_type_is_refused(service: HttpService, content_type: str) -> None:
    problem = await creation(service, b'{"typeKey":"L"}', **{"Content-Type": content_type})
    assert problem["status"] == 415


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON", 'application/json; charset="UTF-8"']
)
async def test_every_spelling_of_json_is_taken(service: HttpService, content_type: str) -> None:
    problem = await creation(service, b'{"typeKey":"L"}', **{"Content-Type": content_type})
    assert problem["code"] == "UNKNOWN_REQUEST_TYPE"


async def test_a_compressed_body_is_refused(service: HttpService) -> None:
    problem = await creation(service, b"\x1f\x8b", **{"Content-Encoding": "gzip"})
    assert problem["status"] == 415


async def test_a_body_that_is_announced_too_large_is_refused_and_the_connection_closed(
    service: HttpService,
) -> None:
    answer = await service.call("POST", REQUESTS, body=b" " * 10_001, headers=KEY)
    assert problem_of(answer, 413)["code"] == "BODY_TOO_LARGE"
    assert answer.headers["Connection"] == "close"


async def test_a_chunked_body_is_cut_at_the_limit(service: HttpService) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1000
            yield b" " * 1000

    headers = {"Authorization": f"Bearer {token()}", "Content-Type": "application/json", **KEY}
    answer = await service.client.post(REQUESTS, content=chunks(), headers=headers)
    assert problem_of(answer, 413)["code"] == "BODY_TOO_LARGE"
    assert sent == 11_000


async def test_a_body_of_exactly_the_limit_is_read(service: HttpService) -> None:
    body = b'{"typeKey":"L"}'.ljust(10_000)
    assert (await creation(service, body))["code"] == "UNKNOWN_REQUEST_TYPE"


class Wire:
    """Send one request message by message, as a server would, and keep the answer."""

    def __init__(self, *chunks: bytes, disconnects: bool = False) -> None:
        self._incoming: list[Message] = [
            {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
        ]
        if disconnects:
            self._incoming.append({"type": "http.disconnect"})
        else:
            self._incoming.append({"type": "http.request", "body": b"", "more_body": False})
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        return self._incoming.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int | None:
        return self.sent[0]["status"] if self.sent else None

    @property
    def code(self) -> object:
        problem = parse_json(self.sent[1]["body"])
        assert isinstance(problem, dict)
        return problem["code"]


def scope(lines: Iterable[tuple[bytes, bytes]] = (), *, path: str = REQUESTS, method: str = "POST") -> Scope:
    good = [
        (b"authorization", f"Bearer {token()}".encode()),
        (b"content-type", b"application/json"),
        (b"idempotency-key", b"create-1"),
    ]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [*good, *lines],
    }


@pytest.mark.parametrize(
    ("length", "status"),
    [(b"3", 400), (b"99", 400), (b"-1", 400), (b"1e3", 400), (b"", 400), (b"9" * 30, 400), (b"10001", 413)],
)
async def test_a_content_length_that_lies_is_refused(
    service: HttpService, length: bytes, status: int
) -> None:
    wire = Wire(b'{"typeKey"', b':"L"}')
    await service.app(scope([(b"content-length", length)]), wire.receive, wire.send)
    assert wire.status == status
    assert not service.unexpected


@pytest.mark.parametrize(
    "line",
    [
        (b"authorization", b"Bearer x"),
        (b"content-type", b"text/plain"),
        (b"idempotency-key", b"create-2"),
    ],
)
async def test_a_second_line_of_a_header_that_has_one_is_refused(
    service: HttpService, line: tuple[bytes, bytes]
) -> None:
    wire = Wire(b'{"typeKey":"L"}')
    await service.app(scope([line]), wire.receive, wire.send)
    assert (wire.status, wire.code) == (400, "INVALID_HEADER")


@pytest.mark.parametrize("name", [b"if-match", b"if-none-match", b"content-length", b"host"])
async def test_a_repeated_header_is_refused_even_with_one_value(service: HttpService, name: bytes) -> None:
    wire = Wire()
    await service.app(scope([(name, b"1"), (name, b"1")]), wire.receive, wire.send)
    assert (wire.status, wire.code) == (400, "INVALID_HEADER")


@pytest.mark.parametrize(
    "lines", [[(b"x-large", b"x" * 33_000)], [(b"x-many", b"1")] * 100], ids=["large", "many"]
)
async def test_headers_beyond_reason_are_refused(
    service: HttpService, lines: list[tuple[bytes, bytes]]
) -> None:
    wire = Wire(b"{}")
    await service.app(scope(lines), wire.receive, wire.send)
    assert (wire.status, wire.code) == (431, "HEADERS_TOO_LARGE")


async def test_two_ways_to_end_a_body_are_refused(service: HttpService) -> None:
    wire = Wire(b"{}")
    lines = [(b"content-length", b"2"), (b"transfer-encoding", b"chunked")]
    await service.app(scope(lines), wire.receive, wire.send)
    assert (wire.status, wire.code) == (400, "INVALID_HEADER")


async def test_a_client_that_leaves_while_it_sends_is_answered_with_nothing(service: HttpService) -> None:
    wire = Wire(b'{"typeKey"', disconnects=True)
    await service.app(scope(), wire.receive, wire.send)
    assert not wire.sent
    assert not service.unexpected


async def test_a_body_that_drips_for_ever_is_cut_off() -> None:
    service = http_service(HttpSettings(request_api_enabled=True, body_seconds_max=0.02))
    wire = Wire()

    async def drip() -> Message:
        await asyncio.Event().wait()
        return {}

    await service.app(scope(), drip, wire.send)
    assert wire.status == 408


@pytest.mark.parametrize(
    "path",
    [
        f"{REQUESTS}\n",
        f"{REQUESTS}/\x00",
        f"{REQUESTS}/",
        f"{API}//requests",
        "/api/v1/../v1/requests",
        "//evil.test/api/v1/requests",
        "/",
        "",
        "/api/v2/requests",
        "/docs",
        "/metrics",
    ],
)
async def test_a_path_that_is_not_in_the_table_is_not_found(service: HttpService, path: str) -> None:
    wire = Wire(b'{"typeKey":"L"}')
    await service.app(scope(path=path), wire.receive, wire.send)
    assert wire.status == 404
    assert not service.unexpected


@pytest.mark.parametrize(
    "identifier",
    ["1", "null", "'; DROP TABLE request_instance; --", "%00", "0" * 36, "0" * 32, "{0}", "é", "urn:uuid:0"],
)
async def test_a_path_id_that_is_no_uuid_is_not_found(service: HttpService, identifier: str) -> None:
    for path in (f"/requests/{identifier}", f"/executions/{identifier}"):
        wire = Wire()
        await service.app(scope(path=API + path, method="GET"), wire.receive, wire.send)
        assert wire.status == 404


async def test_the_host_header_comes_back_nowhere(service: HttpService) -> None:
    answer = await service.call("GET", f"{REQUESTS}/", headers={"Host": "evil.test"})
    assert answer.status_code == 404
    assert "evil.test" not in f"{answer.headers} {answer.text}"


@pytest.mark.parametrize(
    "sent", [b"a\r\nSet-Cookie: x=1", b"a\nb", b"\x00", b"\xff", b"", b" ", b"c" * 129, b"a b", b"<script>"]
)
async def test_a_correlation_id_that_is_not_safe_is_replaced(service: HttpService, sent: bytes) -> None:
    wire = Wire(b"{")
    await service.app(scope([(b"x-correlation-id", sent)]), wire.receive, wire.send)
    lines = dict(wire.sent[0]["headers"])
    assert lines[b"x-correlation-id"] != sent
    assert len(lines[b"x-correlation-id"]) == 36
    assert b"set-cookie" not in lines


async def test_a_safe_correlation_id_comes_back_in_header_and_problem(service: HttpService) -> None:
    answer = await service.call("GET", "/nowhere", headers={"X-Correlation-Id": "case-42.a:b~c_d"})
    assert answer.headers["X-Correlation-Id"] == "case-42.a:b~c_d"
    assert json_of(answer)["correlationId"] == "case-42.a:b~c_d"
