"""The sandbox's database: an embedded server, one database, and a login for each duty."""

import secrets
from urllib.parse import urlsplit

import psycopg
from attrs import frozen

from orchestrator_postgres.roles import Login, Logins, provision_roles
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres

NAME = "orchestrator"


@frozen(kw_only=True)
class DatabaseUrls:
    """How each role connects."""

    superuser: str
    migration: str
    runtime: str
    retention: str


def provisioned_database(server: EmbeddedPostgres) -> DatabaseUrls:
    """Make the database if it isn't there, with its roles; their passwords are new at each start."""
    superuser_url = _database(server)
    logins = Logins(migration=_login("migration"), runtime=_login("runtime"), retention=_login("retention"))
    provision_roles(superuser_url, logins)
    return DatabaseUrls(
        superuser=superuser_url,
        migration=_url(superuser_url, logins.migration),
        runtime=_url(superuser_url, logins.runtime),
        retention=_url(superuser_url, logins.retention),
    )


def _database(server: EmbeddedPostgres) -> str:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [NAME]).fetchone()
    return server.create_database(NAME) if found is None else server.url_of(NAME)


def _login(duty: str) -> Login:
    return Login(name=f"sandbox_{duty}", password=secrets.token_urlsafe(24))


def _url(superuser_url: str, login: Login) -> str:
    parts = urlsplit(superuser_url)
    # The random passwords consist of characters that need no escape in a URL.
    return parts._replace(netloc=f"{login.name}:{login.password}@{parts.hostname}:{parts.port}").geturl()
