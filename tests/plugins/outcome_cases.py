"""The lines of the protocol's table of outcomes, and the behaviours of a provider that belong to each."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from attrs import field, frozen
from tests.plugins.misbehaving_provider import (
    Behaviour,
    answering,
    bomb,
    dripping,
    reset_after_reading,
    reset_before_reading,
    response,
    saying_nothing,
)

PATIENT = {"connectSeconds": 5, "answerSeconds": 20, "budgetSeconds": 30}
HASTY = {"connectSeconds": 5, "answerSeconds": Decimal("0.2"), "budgetSeconds": 30}
GOOD = b'{"found": true, "shelf": "4"}'
FOUND = answering(response(200, GOOD))

# How a run leaves the execution, the checkpoint, and whether an effect is in doubt.
type End = tuple[str, str, bool]
DONE: End = ("SUCCEEDED", "SUCCEEDED", False)
WAITS: End = ("RETRY_WAIT", "PENDING", False)
WAITS_IN_DOUBT: End = ("RETRY_WAIT", "PENDING", True)
FAILS: End = ("FAILED", "FAILED", False)
STOPS: End = ("RECONCILIATION_REQUIRED", "UNKNOWN", True)


@frozen
class Row:
    """A line of the table: what each effect comes to at an attempt with others left, and at the last one."""

    left: tuple[End, End, End]
    last: tuple[End, End, End]


def ends_alike(end: End) -> Row:
    return Row((end,) * 3, (end,) * 3)


SUCCESS = ends_alike(DONE)
UNSENT = Row((WAITS,) * 3, (FAILS,) * 3)
NO_WHOLE_ANSWER = Row((WAITS, WAITS_IN_DOUBT, STOPS), (FAILS, STOPS, STOPS))
LATER = NO_WHOLE_ANSWER
LATER_WITHOUT_EFFECT = UNSENT
WITHOUT_EFFECT = ends_alike(FAILS)
UNCLEAR = Row((FAILS, STOPS, STOPS), (FAILS, STOPS, STOPS))
BROKEN = UNCLEAR


@frozen(kw_only=True)
class Case:
    """One behaviour of a provider under one contract, and the line of the table that it belongs to."""

    name: str
    behaviour: Behaviour
    row: Row
    code: str | None
    contract: dict[str, Any] = field(factory=dict)
    is_sent: bool = True
    endpoint: dict[str, Any] = field(factory=dict)


def status_cases(name: str, statuses: tuple[int, ...], row: Row, code: str) -> Iterator[Case]:
    """Let each status come with nothing and with a perfect result, and the first with worse: the body changes nothing."""
    bodies = {"no body": b"", "result": GOOD, "page": b"<html>", "much": b" " * 400_000}
    for status in statuses:
        for label, body in bodies.items():
            if status == 304 and body:
                continue
            if status != statuses[0] and label in ("page", "much"):
                continue
            answer = response(status, body)
            yield Case(name=f"{name} {status} {label}", behaviour=answering(answer), row=row, code=code)


def result_cases() -> Iterator[Case]:
    for status in (200, 201, 202, 203, 206, 299):
        yield Case(
            name=f"result {status}", behaviour=answering(response(status, GOOD)), row=SUCCESS, code=None
        )
    for label in ("text/html", "application/octet-stream", "nonsense"):
        answer = response(200, GOOD, headers=f"Content-Type: {label}\r\n")
        yield Case(name=f"result labelled {label}", behaviour=answering(answer), row=SUCCESS, code=None)


def broken_cases() -> Iterator[Case]:
    answers = {
        "nothing": response(200),
        "no content": response(204),
        "page": response(200, b"<html>"),
        "other shape": response(200, b"[true]"),
        "member missing": response(200, b"{}"),
        "member of another kind": response(200, b'{"found": "true"}'),
        "member null": response(200, b'{"found": null}'),
        "member twice": response(200, b'{"found": true, "found": false}'),
        "nul": response(200, b'{"found": true, "shelf": "\\u0000"}'),
        "lone surrogate": response(200, b'{"found": true, "shelf": "\\ud800"}'),
        "absurd number": response(200, b'{"found": 1e999999}'),
        "deep": response(200, b'{"found":' + b"[" * 100_000),
        "not UTF-8": response(200, b'{"found": true, "shelf": "\xff"}'),
        "too large": response(200, b'{"found": true}' + b" " * 300_000),
        "bomb": bomb(3_000_000),
        "encoding that wasn't offered": response(200, GOOD, headers="Content-Encoding: br\r\n"),
    }
    for label, answer in answers.items():
        yield Case(name=f"broken {label}", behaviour=answering(answer), row=BROKEN, code="CONTRACT_VIOLATION")


def timing_cases() -> Iterator[Case]:
    behaviours: dict[str, Behaviour] = {
        "reset before reading": reset_before_reading,
        "reset after reading": reset_after_reading,
        "closed without a word": answering(b""),
        "garbage": answering(b"\x00\xff no HTTP\r\n\r\n"),
        "half a head": answering(b"HTTP/1.1 200 OK\r\nContent-Le"),
        "half a body": answering(response(200, GOOD, declared_length=1000)),
        "half a refusal": answering(response(422, b"{}", declared_length=1000)),
    }
    slow: dict[str, Behaviour] = {
        "silence": saying_nothing,
        "dripping result": dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
        "dripping head": dripping(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
        "dripping refusal": dripping(b"HTTP/1.1 401 Denied\r\nContent-Length: 100000\r\n\r\n", b" "),
    }
    for label, behaviour in behaviours.items():
        yield Case(name=label, behaviour=behaviour, row=NO_WHOLE_ANSWER, code="PROVIDER_TIMEOUT")
    for label, behaviour in slow.items():
        yield Case(
            name=label,
            behaviour=behaviour,
            row=NO_WHOLE_ANSWER,
            code="PROVIDER_TIMEOUT",
            contract={"timeouts": HASTY},
        )


def unsent_cases() -> Iterator[Case]:
    unreachable = {"baseUrl": "http://127.0.0.1:1"}
    yield Case(
        name="nobody listens",
        behaviour=FOUND,
        row=UNSENT,
        code="PROVIDER_UNREACHABLE",
        endpoint=unreachable,
        is_sent=False,
    )
    yield Case(
        name="address that isn't listed",
        behaviour=FOUND,
        row=UNSENT,
        code="PROVIDER_ADDRESS_REFUSED",
        endpoint={"allowedNetworks": ["10.0.0.0/8"]},
        is_sent=False,
    )


def contract_cases() -> Iterator[Case]:
    """Let a contract give statuses another meaning than the usual."""

    def mapped(status: int, answer: dict[str, Any], row: Row, code: str | None, body: bytes = b"") -> Case:
        return Case(
            name=f"{status} written as {json.dumps(answer)}, {code or 'a result'}",
            behaviour=answering(response(status, body)),
            row=row,
            code=code,
            contract={"answers": {str(status): answer}},
        )

    not_found = {"kind": "result", "fields": {"found": {"literal": False}}}
    yield mapped(404, not_found, SUCCESS, None)
    yield mapped(404, {"kind": "retryable"}, LATER, "PROVIDER_UNAVAILABLE")
    yield mapped(409, {"kind": "noEffect"}, WITHOUT_EFFECT, "PROVIDER_REJECTED")
    yield mapped(409, {"kind": "result"}, SUCCESS, None, GOOD)
    yield mapped(409, {"kind": "result"}, BROKEN, "CONTRACT_VIOLATION", b"{}")
    yield mapped(500, {"kind": "retryable"}, LATER, "PROVIDER_UNAVAILABLE")
    yield mapped(503, {"kind": "noEffect"}, WITHOUT_EFFECT, "PROVIDER_REJECTED")
    for status in (409, 429, 503):
        proven = {"kind": "retryable", "provesNoEffect": True}
        yield mapped(status, proven, LATER_WITHOUT_EFFECT, "PROVIDER_UNAVAILABLE")


CASES = [
    *result_cases(),
    *broken_cases(),
    *timing_cases(),
    *unsent_cases(),
    *contract_cases(),
    *status_cases("later", (408, 425, 429, 502, 503, 504), LATER, "PROVIDER_UNAVAILABLE"),
    *status_cases("authentication", (401, 403), WITHOUT_EFFECT, "PROVIDER_AUTHENTICATION"),
    *status_cases("refusal", (400, 404, 405, 413, 415, 422), WITHOUT_EFFECT, "PROVIDER_REJECTED"),
    *status_cases(
        "unclear",
        (300, 301, 302, 303, 304, 307, 308, 402, 406, 409, 410, 412, 418, 423, 451, 500, 501, 505, 507, 599),
        UNCLEAR,
        "PROVIDER_REJECTED",
    ),
]
