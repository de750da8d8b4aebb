"""The command `orchestrator`: what it answers with, and what it says when it can't begin."""

import json
import os
import socket
import subprocess
import sys

import pytest
from tests.plugins.migrated_database import TestDatabase

from orchestrator_postgres.migrate import head_revision
from orchestrator_service.cli import main

ISSUERS = json.dumps(
    [{"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["RS256"]}]
)


def test_settings_with_faults_end_with_2_and_one_line_for_each(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("WORKER_POLL_MS", "hunter2")
    environment.setenv("REQUEST_API_ENABLED", "true")

    code = main(["serve"])

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 4
    assert all(line.startswith("SETTINGS_INVALID: ") for line in said.err.splitlines())
    assert "hunter2" not in said.err
    assert "Traceback" not in said.err


def test_a_service_does_not_load_what_draws_tracebacks_and_leaves_it_to_others() -> None:
    told = "import sys; from orchestrator_service.cli import main; main(['serve']); loaded = set(sys.modules)"
    asked = "import rich; print('structlog' in loaded, 'rich' in loaded, 'rich' in sys.modules)"

    ended = subprocess.run(
        [sys.executable, "-c", f"{told}; {asked}"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.split() == ["True", "False", "True"]


@pytest.mark.parametrize("arguments", [[], ["fly"], ["serve", "--now"]])
def test_a_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)

    assert end.value.code == 2
    assert "usage: orchestrator" in capsys.readouterr().err


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])

    assert end.value.code == 0
    said = capsys.readouterr().out
    assert "serve" in said
    assert "migrate" in said


def test_a_migration_says_where_the_schema_is_and_can_be_repeated(
    environment: pytest.MonkeyPatch,
    unmigrated_database: TestDatabase,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment.setenv("MIGRATION_DATABASE_URL", unmigrated_database.migration_url)

    assert [main(["migrate"]), main(["migrate"])] == [0, 0]

    said = capsys.readouterr()
    assert [json.loads(line) for line in said.out.splitlines()] == [{"revision": head_revision()}] * 2
    assert said.err == ""


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://someone:hunter2@127.0.0.1:1/orchestrator",
        "postgresql://someone:hunter2@host.invalid/orchestrator",
    ],
    ids=["unreachable", "unknown-host"],
)
def test_a_migration_that_can_not_connect_says_so_in_one_sentence(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    environment.setenv("MIGRATION_DATABASE_URL", url)

    code = main(["migrate"])

    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert line.startswith("MIGRATION_FAILED: ")
    assert "hunter2" not in line


def test_a_migration_by_a_role_that_may_not_migrate_says_so_in_one_sentence(
    environment: pytest.MonkeyPatch,
    unmigrated_database: TestDatabase,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment.setenv("MIGRATION_DATABASE_URL", unmigrated_database.runtime_url)

    code = main(["migrate"])

    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert line.startswith("MIGRATION_FAILED: ")
    assert "42501" in line


@pytest.mark.usefixtures("logging_as_before")
def test_a_port_that_is_taken_is_one_sentence(
    environment: pytest.MonkeyPatch, database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment.setenv("DATABASE_URL", database.runtime_url)
        environment.setenv("AUTH_ISSUERS", ISSUERS)
        environment.setenv("CURSOR_SECRETS", "abcdefghijklmnopqrstuvwxyz012345")
        environment.setenv("REQUEST_API_ENABLED", "true")
        environment.setenv("LISTEN_PORT", str(port))

        code = main(["serve"])

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err == f"LISTENER_UNAVAILABLE: Can't listen on port {port}: Address already in use.\n"


@pytest.mark.usefixtures("logging_as_before")
def test_a_process_with_nothing_to_do_does_not_start(
    environment: pytest.MonkeyPatch, database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("DATABASE_URL", database.runtime_url)

    code = main(["serve"])

    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert line.startswith("SETTINGS_INVALID: ")
    assert "WORKER_ENABLED" in line
