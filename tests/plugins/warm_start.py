"""A process that has everything imported, and forks a service process for each order that it is sent.

Run as a module. It listens on a port of this machine, has one thread and no connection to a database, so that its
children begin as freshly started processes do, without the second that imports take.
"""

import json
import os
import socket
import sys
from importlib import import_module
from typing import Any

import orchestrator_http.http_documents as _imported_for_first_keys  # noqa: F401 - imported with the first token
import orchestrator_http.signatures as _imported_for_first_tokens  # noqa: F401 - imported with the first token
import orchestrator_service.serve as _imported_for_its_children  # noqa: F401 - the command imports it when it is asked for
import orchestrator_worker.provider_client as _imported_for_first_calls  # noqa: F401 - imported with the first of them
from orchestrator_service.cli import main


def listen() -> None:
    """Fork and tell of ends, one order a connection, until whoever started this process ends it."""
    ended: dict[int, int] = {}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(json.dumps({"ready": True, "port": listener.getsockname()[1]}) + "\n")
        sys.stdout.flush()
        while True:
            asking, _ = listener.accept()
            with asking, asking.makefile("rw") as lines:
                order = json.loads(lines.readline())
                answer = _ended(order["ended"], ended) if "ended" in order else _forked(order, listener)
                lines.write(json.dumps(answer) + "\n")


def _ended(process_id: int, known: dict[int, int]) -> int | None:
    if process_id not in known:
        found, status = os.waitpid(process_id, os.WNOHANG)
        if found:
            known[process_id] = os.waitstatus_to_exitcode(status)
    return known.get(process_id)


def _forked(order: dict[str, Any], listener: socket.socket) -> int:
    process_id = os.fork()
    if process_id:
        return process_id
    listener.close()
    _become(order)
    code = 1
    try:
        if order["release"] is not None:
            import_module(order["release"])
        code = main(["serve"])
        sys.stdout.flush()
    finally:
        os._exit(code)


def _become(order: dict[str, Any]) -> None:
    os.setsid()
    for name, number in (("said", 1), ("log", 2)):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), number)
    os.environ.update(order["variables"])


if __name__ == "__main__":
    listen()
