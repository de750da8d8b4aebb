"""`orchestrator serve`: the API, the worker, or both in one process, until a signal asks it to end.

The first SIGTERM or SIGINT drains: readiness turns to 503, the listener closes, running executions are finished within
their time. A second one ends what is left at once; leases bring it back elsewhere.
"""

import asyncio
import json
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
import uvloop
from attrs import define, field
from starlette.types import ASGIApp
from structlog.stdlib import get_logger

from orchestrator_domain.errors import OrchestratorError
from orchestrator_service.assembly import Service, assembled
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.listener_tls import ListenerTls
from orchestrator_service.logs import configure_logs
from orchestrator_service.settings import Listener, Settings, read_settings

_ANSWER_SECONDS_MAX = 10
_SEEN_UNREADY_SECONDS = 0.25


class ListenerTaken(OrchestratorError):
    """The address can't be listened on."""

    code = "LISTENER_UNAVAILABLE"


def serve(variables: Mapping[str, str]) -> int:
    """Serve until a signal; return 0, or 1 when a part ended by itself."""
    settings = read_settings(variables)
    _check_that_it_has_work(settings)
    configure_logs(settings.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings, variables))


def _check_that_it_has_work(settings: Settings) -> None:
    if not settings.serves_api and not settings.worker.enabled:
        raise SettingsInvalid(
            (
                "Nothing is switched on: set REQUEST_API_ENABLED, FLOW_ADMIN_ENABLED or WORKER_ENABLED to true.",
            )
        )


async def _serve(settings: Settings, variables: Mapping[str, str]) -> int:
    async with assembled(settings, variables) as service:
        process = Process(service=service, settings=settings)
        process.listen()
        _on_signals(process.end)
        code = await process.run()
    _let_signals_pass()
    return code


class _Server(uvicorn.Server):
    """A server that leaves signals to the process and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.listening.set()


@define(kw_only=True)
class Process:
    """The parts of one process, and the order in which they begin and end."""

    service: Service
    settings: Settings
    _servers: dict[str, tuple[_Server, socket.socket]] = field(factory=dict, init=False)
    _ending: asyncio.Event = field(factory=asyncio.Event, init=False)

    def listen(self) -> None:
        """Bind every listener, so that a taken port is a fault of the start."""
        if self.service.api is not None:
            self._bind("apiUrl", self.service.api, self.settings.listen)
        if self.settings.management is not None:
            self._bind("managementUrl", self.service.management, self.settings.management)

    def end(self) -> None:
        """Begin to end; asked again, end now."""
        self.service.draining.begun = True
        if self._ending.is_set():
            for server, _ in self._servers.values():
                server.force_exit = True
        self._ending.set()
        if self.service.worker is not None:
            self.service.worker.stop()

    async def run(self) -> int:
        parts = self._started()
        ending = asyncio.create_task(self._ending.wait())
        announcing = asyncio.create_task(self._announce())
        await asyncio.wait({ending, *parts}, return_when=asyncio.FIRST_COMPLETED)
        ended_by_itself = not self._ending.is_set()
        if ended_by_itself:
            self.end()
        await self._close_listeners()
        results = await asyncio.gather(*parts, return_exceptions=True)
        announcing.cancel()
        return 1 if ended_by_itself or any(isinstance(result, BaseException) for result in results) else 0

    def _started(self) -> list[asyncio.Task[None]]:
        parts = [
            asyncio.create_task(server.serve(sockets=[bound]), name=name.removesuffix("Url"))
            for name, (server, bound) in self._servers.items()
        ]
        if self.service.worker is not None:
            parts.append(asyncio.create_task(self.service.worker.run(), name="worker"))
        for part in parts:
            part.add_done_callback(self._tell_unless_asked_for)
        return parts

    def _tell_unless_asked_for(self, part: asyncio.Task[None]) -> None:
        fault = None if part.cancelled() else part.exception()
        if fault is not None or not self._ending.is_set():
            get_logger("orchestrator").error("part_ended_unexpectedly", part=part.get_name(), exc_info=fault)

    async def urls(self) -> dict[str, str]:
        """Return where it listens, by `apiUrl` and `managementUrl`, once it does."""
        for server, _ in self._servers.values():
            await server.listening.wait()
        return {name: _url(bound, server.config) for name, (server, bound) in self._servers.items()}

    async def _announce(self) -> None:
        """Tell whoever started the process where it listens, in one JSON line on standard output."""
        ready = {"ready": True, "apiUrl": None, "managementUrl": None, **await self.urls()}
        print(json.dumps({**ready, "worker": self.service.worker is not None}), flush=True)

    async def _close_listeners(self) -> None:
        # A supervisor that asks meanwhile sees 503 rather than a refused connection.
        if self._servers:
            await asyncio.sleep(_SEEN_UNREADY_SECONDS)
        for server, _ in self._servers.values():
            server.should_exit = True

    def _bind(self, name: str, application: ASGIApp, listener: Listener) -> None:
        self._servers[name] = (_Server(server_config(application, tls=listener.tls)), _bound_socket(listener))


def server_config(application: ASGIApp, *, tls: ListenerTls | None = None) -> uvicorn.Config:
    """Return how the server answers for an application; `bench` measures it so, too."""
    return uvicorn.Config(
        application,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=_ANSWER_SECONDS_MAX,
        ssl_certfile=None if tls is None else tls.certificate_file,
        ssl_keyfile=None if tls is None else tls.key_file,
    )


def _bound_socket(listener: Listener) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listener.host, listener.port))
    except OSError as fault:
        bound.close()
        raise ListenerTaken(f"Can't listen on port {listener.port}: {fault.strerror}.") from None
    bound.set_inheritable(True)
    return bound


def _url(bound: socket.socket, config: uvicorn.Config) -> str:
    scheme = "https" if config.is_ssl else "http"
    host, port = bound.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _on_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)


def _let_signals_pass() -> None:
    """Keep a signal that comes after the end from turning an end in order into a death by signal."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
