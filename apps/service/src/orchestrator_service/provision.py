"""`orchestrator provision`: make the roles of a database and the schema that the migration role owns."""

import json
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import psycopg

from orchestrator_domain.errors import OrchestratorError
from orchestrator_postgres.roles import Login, Logins, provision_roles
from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.settings import migration_url_from, retention_url_from

_SAME_DATABASE = "ADMINISTRATOR_DATABASE_URL, MIGRATION_DATABASE_URL, DATABASE_URL and RETENTION_DATABASE_URL must name one database."
_THREE_LOGINS = (
    "MIGRATION_DATABASE_URL, DATABASE_URL and RETENTION_DATABASE_URL must name three different logins."
)


class ProvisioningFailed(OrchestratorError):
    """The roles could not be made; nothing has changed."""

    code = "PROVISIONING_FAILED"


def provision_database(variables: Mapping[str, str]) -> int:
    """Make the three logins that the URLs name, say in one JSON line which, and return the exit code.

    Safe to repeat: passwords are set to those of the URLs, and what the logins could do beyond their duty is taken back.
    """
    administrator_url, logins = provisioning_from(Environment(variables))
    try:
        provision_roles(administrator_url, logins)
    except psycopg.Error as fault:
        raise ProvisioningFailed(f"No role was made: {_reason(fault)}.") from None
    names = {
        "migration": logins.migration.name,
        "runtime": logins.runtime.name,
        "retention": logins.retention.name,
    }
    print(json.dumps({"logins": names}))
    return 0


def provisioning_from(environment: Environment) -> tuple[str, Logins]:
    """Read who makes the roles, and the logins that the URLs of the others name; raise SettingsInvalid."""
    administrator = environment.database_url(
        "ADMINISTRATOR_DATABASE_URL", "the URL of a superuser, for this command only"
    )
    urls = {
        "MIGRATION_DATABASE_URL": migration_url_from(environment),
        "DATABASE_URL": environment.database_url("DATABASE_URL", "the URL of the restricted runtime role"),
        "RETENTION_DATABASE_URL": retention_url_from(environment),
    }
    if not environment.faults:
        _look_over(environment, administrator, urls)
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    migration, runtime, retention = map(_login, urls.values())
    return administrator, Logins(migration=migration, runtime=runtime, retention=retention)


def _look_over(environment: Environment, administrator: str, urls: Mapping[str, str]) -> None:
    for name, url in urls.items():
        login = _login(url)
        environment.check(
            that=bool(login.name and login.password), otherwise=f"{name} must hold a name and a password."
        )
    environment.check(
        that=len({urlsplit(url).path for url in (administrator, *urls.values())}) == 1,
        otherwise=_SAME_DATABASE,
    )
    environment.check(
        that=len({_login(url).name for url in urls.values()}) == len(urls), otherwise=_THREE_LOGINS
    )


def _reason(fault: psycopg.Error) -> str:
    if fault.sqlstate is None:
        return "the database does not answer at ADMINISTRATOR_DATABASE_URL, or refuses role and password"
    return f"the database refuses it (SQLSTATE {fault.sqlstate})"


def _login(url: str) -> Login:
    parts = urlsplit(url)
    return Login(name=unquote(parts.username or ""), password=unquote(parts.password or ""))
