"""`orchestrator serve` as a process: API and worker in one, on a database of ours."""

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Self

from bench.durable_server import BenchDatabase
from bench.resident_memory import resident_mib

PLAIN_ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
"""What both sides of a comparison run in; nothing in it keeps Python from using and writing compiled modules."""

_ISSUER = {"issuer": "https://issuer.bench", "audiences": ["orchestrator"], "algorithms": ["RS256"]}


class ServingProcess:
    """Start it; use it as a context manager, which stops it in order."""

    def __init__(self, database: BenchDatabase) -> None:
        variables = {
            **PLAIN_ENVIRONMENT,
            "DATABASE_URL": database.runtime_url,
            "REQUEST_API_ENABLED": "true",
            "FLOW_ADMIN_ENABLED": "true",
            "WORKER_ENABLED": "true",
            "AUTH_ISSUERS": json.dumps([_ISSUER]),
            "CURSOR_SECRETS": "only a bench knows this secret of cursors",
            "LISTEN_PORT": "0",
            "MANAGEMENT_PORT": "0",
        }
        command = [sys.executable, "-m", "orchestrator_service.cli", "serve"]
        self._process = subprocess.Popen(
            command, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ready(self) -> None:
        """Wait until it says that it is ready; raise RuntimeError if it ends instead."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said or not json.loads(said)["ready"]:
            raise RuntimeError("the service did not start")

    @property
    def resident_mib(self) -> float:
        return resident_mib(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _fault: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()
