"""Accepted events a second over HTTP (token checked, schema checked), beside the use case alone, on one database.

Server, clients and database share the machine. The clients write raw HTTP/1.1 on connections that they keep, from a
process of their own, since a client library would cost more than the server.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence

from bench.durable_server import accepting_database
from bench.durable_work import durable_work, per_second
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtLeast
from bench.sample import alternately
from orchestrator_domain.identifiers import RequestId

_EVENTS = 1_500
_CLIENTS = 10


async def _over_use_case() -> float:
    async with durable_work(accepting_database(), listens=False) as work:
        requests = await work.requests(_EVENTS, actions=1)
        return await per_second(_EVENTS, lambda: work.accepted(requests, clients=_CLIENTS))


async def _requests() -> Sequence[RequestId]:
    async with durable_work(accepting_database(), listens=False) as work:
        return await work.requests(_EVENTS, actions=1)


async def _over_http(port: int, token: str) -> float:
    left = iter(await _requests())

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request_id in left:
            writer.write(_message(request_id, token))
            await _accepted(reader)
        writer.close()
        await writer.wait_closed()

    return await per_second(_EVENTS, lambda: asyncio.gather(*(client() for _ in range(_CLIENTS))))


def _message(request_id: RequestId, token: str) -> bytes:
    body = '{"event":"GO","data":{}}'
    return (
        f"POST /api/v1/requests/{request_id}/events HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {token}\r\nIdempotency-Key: go\r\nIf-Match: *\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


async def _accepted(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 202"):
        raise RuntimeError(f"an event was not accepted: {head.splitlines()[0]!r}")
    length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))


def _measure() -> Measured:
    url = accepting_database().runtime_url
    command = [sys.executable, "-m", "bench.http_acceptance_server", url]
    # Its log is written as in production, and read by nobody.
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        said = json.loads(server.stdout.readline())
        try:
            samples = alternately(
                {
                    "http": lambda: run(_over_http(said["port"], said["token"])),
                    "use case": lambda: run(_over_use_case()),
                }
            )
        finally:
            server.terminate()
    return Measured(value=samples["http"], baseline=samples["use case"], baseline_name="the use case")


FIGURES = (Figure(name="acceptance-over-http", unit="events/s", target=RatioAtLeast(0.5), measure=_measure),)
