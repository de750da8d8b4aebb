"""The server that the plugin `tests.plugins.postgres_server` gives to the whole suite."""

import uuid

import psycopg
import pytest
from tests.plugins.postgres_server import PostgresServer


def test_a_database_is_created_from_a_template_and_dropped_while_in_use(
    postgres_server: PostgresServer,
) -> None:
    template, copy = (f"sandbox_{uuid.uuid4().hex}" for _ in range(2))
    with psycopg.connect(postgres_server.create_database(template), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    copied = psycopg.connect(postgres_server.create_database(copy, template=template))
    assert copied.execute("SELECT answer FROM kept").fetchone() == (42,)
    postgres_server.drop_database(copy)
    postgres_server.drop_database(template)
    with pytest.raises(psycopg.OperationalError):
        copied.execute("SELECT 1")
    copied.close()


def test_the_server_of_the_suite_is_as_durable_as_one_in_production(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.superuser_url) as connection:
        asked = "SELECT current_setting('fsync'), current_setting('synchronous_commit')"
        assert connection.execute(asked).fetchone() == ("on", "on")


def test_a_repeated_drop_is_no_fault(postgres_server: PostgresServer) -> None:
    postgres_server.drop_database(f"sandbox_{uuid.uuid4().hex}")
