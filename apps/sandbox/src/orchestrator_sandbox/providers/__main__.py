"""Run the provider doubles as a process: `python -m orchestrator_sandbox.providers`."""

import argparse
import asyncio
import socket

from orchestrator_sandbox.listening import STOP_SIGNALS, announce, listening_socket
from orchestrator_sandbox.providers.server import ProviderServer


def main() -> None:
    """Serve the doubles until SIGTERM or SIGINT, after one line of JSON on stdout that names their URL."""
    parser = argparse.ArgumentParser(
        prog="python -m orchestrator_sandbox.providers", description=main.__doc__
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    options = parser.parse_args()
    asyncio.run(_serve(listening_socket(options.host, options.port)))


async def _serve(listener: socket.socket) -> None:
    stopping = asyncio.Event()
    for each in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(each, stopping.set)
    async with ProviderServer(listener):
        announce(listener)
        await stopping.wait()


if __name__ == "__main__":
    main()
