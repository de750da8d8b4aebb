"""Run a private PostgreSQL server on this machine, with its ordinary durability."""

import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

import psycopg
from psycopg import sql

from orchestrator_sandbox.server_cluster import SUPERUSER, ServerDidNotStart, initialise_cluster, server_home
from orchestrator_sandbox.server_process import await_ready, kill_with_children, spawned_postmaster
from orchestrator_sandbox.server_user import server_user
from orchestrator_sandbox.server_watchdog import ServerWatchdog

STOP_SECONDS = 20.0
PORT_ATTEMPTS = 5


class EmbeddedPostgres:
    """A PostgreSQL server of one's own, reachable over loopback only.

    The directory, when given, must be new, empty, or one that an earlier server of this class filled; the
    same data and password are then used again. Without one the data is temporary and goes with the server.
    A caller that is root gets a server that runs as an unprivileged user. The server stops with `stop()`, and
    also when its starter dies. `settings` are added to the command line and survive `restart()`, as does the
    port.
    """

    def __init__(
        self,
        *,
        directory: Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._given_directory = directory
        self._given_port = port
        self._settings = {**_DEFAULT_SETTINGS, **settings}
        self._user = server_user()
        self._home: Path | None = None
        self._port = port or 0
        self._watchdog: ServerWatchdog | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def superuser_url(self) -> str:
        """Return the URL of the maintenance database, as the superuser."""
        return self.url_of("postgres")

    @property
    def process_id(self) -> int | None:
        """Return the id of the postmaster, None while it is down."""
        return self._server.pid if self._server is not None and self._server.poll() is None else None

    @property
    def log_file(self) -> Path:
        """Name the file that the server writes its log to."""
        return self._home_in_use() / "server.log"

    def url_of(self, database: str) -> str:
        """Return the URL of a database of this server, as the superuser."""
        password = (self._home_in_use() / "superuser-password").read_text().strip()
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        """Start the server and return when it accepts connections.

        Raises ServerDidNotStart with the end of the log when it does not.
        """
        if self.process_id is not None:
            return
        self._prepare()
        try:
            self._launch_on_a_free_port()
        except BaseException:
            self._abandon()
            raise

    def stop(self) -> None:
        """Stop the server as after SIGINT: sessions are cut, committed data is on disk."""
        self._end_server(signal.SIGINT)
        self._abandon()

    def restart(self) -> None:
        """Stop the server in order and start it again, on the same port and the same data."""
        self._end_server(signal.SIGINT)
        self._launch()

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a power cut would; `start()` then recovers."""
        if self._server is None or self.process_id is None:
            return
        kill_with_children(self._server)
        self._end_server(signal.SIGKILL)

    def create_database(self, name: str, template: str | None = None) -> str:
        """Create a database, a copy of the template if one is named, and return its URL."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template is not None:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._execute(statement)
        return self.url_of(name)

    def drop_database(self, name: str) -> None:
        """Drop a database, cutting off whoever is connected to it."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement)

    def _home_in_use(self) -> Path:
        if self._home is None:
            raise RuntimeError("The server has not been started.")
        return self._home

    def _prepare(self) -> None:
        if self._home is not None:
            return
        self._home = server_home(self._given_directory, self._user)
        temporary = self._home if self._given_directory is None else None
        self._watchdog = ServerWatchdog(self._user, temporary)
        try:
            initialise_cluster(self._home, self._user)
        except BaseException:
            self._abandon()
            raise

    def _launch_on_a_free_port(self) -> None:
        for _ in range(PORT_ATTEMPTS - 1):
            self._port = self._port or _free_port()
            try:
                self._launch()
            except ServerDidNotStart as failure:
                if self._given_port or "Address already in use" not in str(failure):
                    raise
                # Somebody else took the port between the look and the start.
                self._port = 0
            else:
                return
        self._port = _free_port()
        self._launch()

    def _launch(self) -> None:
        self._server = spawned_postmaster(
            home=self._home_in_use(), port=self._port, settings=self._settings, user=self._user
        )
        if self._watchdog is not None:
            self._watchdog.watch(self._server.pid)
        try:
            await_ready(self._server, self._home_in_use())
        except BaseException:
            self._end_server(signal.SIGKILL)
            raise

    def _end_server(self, first_signal: signal.Signals) -> None:
        if self._server is None:
            return
        for each in (first_signal, signal.SIGQUIT, signal.SIGKILL):
            self._server.send_signal(each)
            try:
                self._server.wait(STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
        self._server = None
        if self._watchdog is not None:
            self._watchdog.forget()

    def _abandon(self) -> None:
        if self._watchdog is not None:
            self._watchdog.close()
        self._watchdog = None
        self._home = None
        self._port = self._given_port or 0


_DEFAULT_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "127.0.0.1",
        # Loopback only: the length of a socket's path is limited, and nobody here needs one.
        "unix_socket_directories": "",
        "max_connections": "200",
        "fsync": "on",
        "synchronous_commit": "on",
        "logging_collector": "off",
    }
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
