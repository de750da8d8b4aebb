"""Give the suite one PostgreSQL server, shared by all of its processes.

`TEST_DATABASE_URL` names a server if it is set (as a superuser); otherwise a container of PostgreSQL 17 is
used when a Docker engine answers, and the embedded server when none does. It is started when it is first
asked for, or, with pytest-xdist, by the controller before its workers; the controller stops it. Its durability
is PostgreSQL's default. Passwords are proven in one round of hashing on a server that is started here: thousands of
connections would otherwise hash for ten milliseconds each.
"""

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from attrs import frozen
from psycopg import sql

WORKER_INPUT = "postgres_superuser_url"
# Has to stand in the settings, as it counts when a password is set.
QUICK_PROOFS = "scram_iterations"
STACK = pytest.StashKey[ExitStack]()
URL = pytest.StashKey[str]()


@frozen(kw_only=True)
class PostgresServer:
    """A server that tests make databases on."""

    superuser_url: str

    def url_of(self, database: str) -> str:
        """Return the URL of a database of this server, as the superuser."""
        return urlsplit(self.superuser_url)._replace(path=f"/{quote(database, safe='')}").geturl()

    def create_database(self, name: str, template: str | None = None) -> str:
        """Create a database, a copy of the template if one is named, and return its URL."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template is not None:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._execute(statement)
        return self.url_of(name)

    def drop_database(self, name: str) -> None:
        """Drop a database if it exists, cutting off whoever is connected to it."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> PostgresServer:
    """The PostgreSQL server of this run."""
    return PostgresServer(superuser_url=_superuser_url(request.config))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start the server in the controller of pytest-xdist and tell each worker where it is."""
    if not node.config.option.collectonly:
        node.workerinput[WORKER_INPUT] = _superuser_url(node.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server that this process has started, if any."""
    if STACK in config.stash:
        config.stash[STACK].close()


def _superuser_url(config: pytest.Config) -> str:
    told = getattr(config, "workerinput", {}).get(WORKER_INPUT)
    if told is not None:
        return str(told)
    if URL not in config.stash:
        config.stash[STACK] = ExitStack()
        config.stash[URL] = _started(config.stash[STACK])
    return config.stash[URL]


def _started(stack: ExitStack) -> str:
    origin, start = _origin()
    try:
        url = start(stack)
        with psycopg.connect(url, connect_timeout=10) as connection:
            connection.execute("SELECT 1")
    except Exception as fault:  # noqa: BLE001 - each kind of server fails in its own ways
        stack.close()
        # Said once for the whole run, rather than by each test that needs the server.
        pytest.exit(f"PostgreSQL for the tests: {origin} can't be used. {fault}", returncode=3)
    return url


def _origin() -> tuple[str, Callable[[ExitStack], str]]:
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        # Whatever names a driver for SQLAlchemy is no URL for libpq.
        url = given.replace("postgresql+psycopg://", "postgresql://", 1)
        return "the server that TEST_DATABASE_URL names", lambda _stack: url
    if _docker_answers():
        return "a container of postgres:17", _container
    return "the embedded server", _embedded


def _docker_answers() -> bool:
    address = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"))
    family = socket.AF_UNIX if address.scheme == "unix" else socket.AF_INET
    target = address.path if address.scheme == "unix" else (address.hostname, address.port or 2375)
    with socket.socket(family) as engine:
        engine.settimeout(2)
        try:
            engine.connect(target)
            engine.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b" 200 " in engine.recv(64)
        except OSError:
            return False


def _container(stack: ExitStack) -> str:
    # Its import takes a second in each process of the suite, so only a run that needs it pays.
    from testcontainers.community.postgres import PostgresContainer

    container = PostgresContainer("postgres:17", username="postgres", dbname="postgres", driver=None)
    container.with_command(f"postgres -c max_connections=200 -c {QUICK_PROOFS}=1")
    stack.enter_context(container)
    return _with_quick_proofs(str(container.get_connection_url()))


def _embedded(stack: ExitStack) -> str:
    from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres

    server = stack.enter_context(EmbeddedPostgres(settings={QUICK_PROOFS: "1"}))
    return _with_quick_proofs(server.superuser_url)


def _with_quick_proofs(superuser_url: str) -> str:
    """Set the superuser's password again, which was set before the server had its settings."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        known = connection.info
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
        connection.execute(statement.format(sql.Identifier(known.user), sql.Literal(known.password)))
    return superuser_url
