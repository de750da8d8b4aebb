"""The command that makes the roles of a database from the URLs that the processes will connect with."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from tests.plugins.postgres_server import PostgresServer

from orchestrator_postgres.migrate import head_revision
from orchestrator_service.cli import main

ADMINISTRATOR = "ADMINISTRATOR_DATABASE_URL"
DUTIES = {
    "MIGRATION_DATABASE_URL": "migration",
    "DATABASE_URL": "runtime",
    "RETENTION_DATABASE_URL": "retention",
}


def urls_of(superuser_url: str) -> dict[str, str]:
    """Return the URLs of three logins of their own on the superuser's database."""
    host = urlsplit(superuser_url).netloc.rpartition("@")[2]
    mark = uuid4().hex[:8]
    database = urlsplit(superuser_url).path
    return {ADMINISTRATOR: superuser_url} | {
        name: f"postgresql://provisioned_{duty}_{mark}:p%40ss-{duty}@{host}{database}"
        for name, duty in DUTIES.items()
    }


@pytest.fixture
def urls(postgres_server: PostgresServer) -> Iterator[dict[str, str]]:
    """An empty database and URLs that name logins which don't exist; both are gone afterwards."""
    name = f"provisioned_{uuid4().hex[:12]}"
    made = urls_of(postgres_server.create_database(name))
    yield made
    postgres_server.drop_database(name)
    with psycopg.connect(postgres_server.superuser_url, autocommit=True) as connection:
        for url in (made[each] for each in DUTIES):
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(urlsplit(url).username or "")))


def test_a_database_is_provisioned_again_and_again_and_then_migrated(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], urls: dict[str, str]
) -> None:
    for name, url in urls.items():
        environment.setenv(name, url)

    assert [main(["provision"]), main(["provision"]), main(["migrate"])] == [0, 0, 0]

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    named = {duty: urlsplit(urls[name]).username for name, duty in DUTIES.items()}
    assert said == [{"logins": named}, {"logins": named}, {"revision": head_revision()}]
    with psycopg.connect(urls["DATABASE_URL"]) as runtime:
        assert runtime.execute("SELECT count(*) FROM orchestrator.execution").fetchone() == (0,)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"DATABASE_URL": ""}, "DATABASE_URL is not set"),
        (
            {"DATABASE_URL": "postgresql://runtime@127.0.0.1/d"},
            "DATABASE_URL must hold a name and a password.",
        ),
        ({"DATABASE_URL": "postgresql://m:m@127.0.0.1/d"}, "must name three different logins."),
        ({"DATABASE_URL": "postgresql://r:r@127.0.0.1/other"}, "must name one database."),
    ],
)
def test_urls_that_make_no_three_roles_are_refused_before_anything_is_made(
    environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    sentence: str,
) -> None:
    good = {name: f"postgresql://{duty[0]}:x@127.0.0.1/d" for name, duty in DUTIES.items()}
    good["RETENTION_DATABASE_URL"] = "postgresql://e:x@127.0.0.1/d"
    for name, url in {ADMINISTRATOR: "postgresql://a:x@127.0.0.1/d", **good, **changed}.items():
        environment.setenv(name, url)

    assert main(["provision"]) == 2

    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("SETTINGS_INVALID: ")
    assert sentence in told


def test_a_server_that_is_not_there_is_told_in_one_sentence(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, url in urls_of("postgresql://admin:hunter2@127.0.0.1:1/orchestrator").items():
        environment.setenv(name, url)

    assert main(["provision"]) == 2

    told = capsys.readouterr().err
    assert told.startswith("PROVISIONING_FAILED: No role was made")
    assert "hunter2" not in told
