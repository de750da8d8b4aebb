"""The database roles: who owns the schema, who serves from it, who may erase."""

from pathlib import Path
from typing import Any

import psycopg
from attrs import field, frozen
from psycopg import sql

from orchestrator_postgres.connection_url import driver_url
from orchestrator_postgres.schema_revision import SCHEMA

RUNTIME_ROLE = "orchestrator_runtime"
RETENTION_ROLE = "orchestrator_retention"
GROUP_ROLES = (RUNTIME_ROLE, RETENTION_ROLE)

_MEMBERSHIPS = b"""
SELECT pg_get_userbyid(roleid), pg_get_userbyid(grantor) FROM pg_auth_members
WHERE pg_get_userbyid(member) = %(member)s
"""
_BOOTSTRAP = Path(__file__).with_name("migrations") / "bootstrap.sql"


@frozen(kw_only=True)
class Login:
    """A role that logs in with a password."""

    name: str
    password: str = field(repr=False)


@frozen(kw_only=True)
class Logins:
    """One login for each of the three duties."""

    migration: Login
    runtime: Login
    retention: Login


def bootstrap_sql() -> str:
    """Return the statements that make the group roles, for an administrator who runs them by hand."""
    return _BOOTSTRAP.read_text(encoding="utf-8")


def provision_roles(superuser_url: str, logins: Logins) -> None:
    """Make the group roles, the three logins and an empty schema that the migration login owns.

    To be run once by an administrator, connected to the database that will hold the schema; run again it sets the
    passwords anew and takes back whatever the logins were given beyond that. Passwords are sent as SCRAM verifiers, so that no server log can hold them.
    """
    with psycopg.connect(driver_url(superuser_url)) as connection:
        connection.execute(_BOOTSTRAP.read_bytes())
        for login, group in (
            (logins.migration, None),
            (logins.runtime, RUNTIME_ROLE),
            (logins.retention, RETENTION_ROLE),
        ):
            _set_login(connection, login)
            _make_member_of_nothing_but(connection, login, group)
        _give_schema(connection, logins.migration)


def _set_login(connection: psycopg.Connection[Any], login: Login) -> None:
    found = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [login.name]).fetchone()
    verb = sql.SQL("CREATE" if found is None else "ALTER")
    verifier = connection.pgconn.encrypt_password(
        login.password.encode(), login.name.encode(), b"scram-sha-256"
    )
    connection.execute(
        sql.SQL(
            "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}"
        ).format(verb, sql.Identifier(login.name), sql.Literal(verifier.decode()))
    )


def _make_member_of_nothing_but(connection: psycopg.Connection[Any], login: Login, group: str | None) -> None:
    held = connection.execute(_MEMBERSHIPS, {"member": login.name}).fetchall()
    for other, grantor in held:
        if other != group:
            connection.execute(
                sql.SQL("REVOKE {} FROM {} GRANTED BY {} CASCADE").format(
                    *map(sql.Identifier, (other, login.name, grantor))
                )
            )
    if group is not None:
        connection.execute(
            sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(login.name))
        )


def _give_schema(connection: psycopg.Connection[Any], migration: Login) -> None:
    connection.execute(
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {}").format(
            sql.Identifier(SCHEMA), sql.Identifier(migration.name)
        )
    )
