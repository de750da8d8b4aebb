"""Listen on a socket, say so on stdout, and serve until a signal comes."""

import asyncio
import json
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that queues connections already; port 0 takes a free one."""
    return socket.create_server((host, port), backlog=1024)


def url_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"


def announce(listener: socket.socket) -> None:
    """Print the ready signal: one line of JSON with the URL."""
    print(json.dumps({"url": url_of(listener)}), flush=True)


async def serve_application(
    application: Starlette, listener: socket.socket, *, announced: Mapping[str, str] | None = None
) -> None:
    """Announce the listener, or what is given instead, and serve the application on it until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    server = _QuietlyStoppingServer(config)
    for each in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(each, server.handle_exit, each, None)
    print(json.dumps(announced or {"url": url_of(listener)}), flush=True)
    await server.serve(sockets=[listener])


class _QuietlyStoppingServer(uvicorn.Server):
    """Leaves the signals to its caller: uvicorn raises them again after the end, which prints a traceback."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
