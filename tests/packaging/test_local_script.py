"""`make .env` and `make local`: random secrets kept once, and each command with its own role's URL alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.packaging.deployment_files import ROOT, SETTINGS, documents
from tools.make_env import filled, main

EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
COMPOSE_DATABASES = re.findall(
    r"postgresql://(\w+):\$\{(\w+):", (ROOT / "compose.yaml").read_text(encoding="utf-8")
)
# Stands for the command: it writes down how it was called, and with which settings.
RECORDER = """#!{python}
import json, os, sys
with open({journal!r}, "a") as journal:
    journal.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
"""


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A file of private settings, as `make .env` writes it."""
    file = tmp_path / ".env"
    assert main(file) == 0
    return file


def secrets_of(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^([A-Z_]+)=(.+)$", file.read_text(), re.MULTILINE))


def test_every_secret_is_random_and_long_and_only_its_owner_reads_it(private: Path) -> None:
    secrets = secrets_of(private)
    assert len(secrets) == 5
    assert len(set(secrets.values())) == 5
    assert {len(value) for value in secrets.values()} == {48}
    assert private.stat().st_mode & 0o777 == 0o600
    assert filled(EXAMPLE) != filled(EXAMPLE)


def test_a_file_that_is_there_stays_as_it_is(private: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = private.read_text()
    assert main(private) == 1
    assert private.read_text() == before
    assert "stays as it is" in capsys.readouterr().err


def called(tmp_path: Path, private: Path, **variables: str) -> list[tuple[list[str], dict[str, str]]]:
    """Run the script with a recorder in place of the command, and return its calls."""
    journal, recorder = tmp_path / "journal", tmp_path / "orchestrator"
    recorder.write_text(RECORDER.format(python=sys.executable, journal=str(journal)))
    recorder.chmod(0o755)
    command = [str(ROOT / "tools" / "local.sh"), str(recorder), private.name]
    subprocess.run(command, check=True, cwd=private.parent, env={"PATH": os.environ["PATH"], **variables})
    return [tuple(json.loads(line)) for line in journal.read_text().splitlines()]


def test_roles_then_schema_then_the_service_each_with_what_it_needs(tmp_path: Path, private: Path) -> None:
    calls = called(tmp_path, private)

    assert [arguments for arguments, _ in calls] == [["provision"], ["migrate"], ["serve"]]
    urls = [{name for name in given if name.endswith("DATABASE_URL")} for _, given in calls]
    everyone = {
        "ADMINISTRATOR_DATABASE_URL",
        "MIGRATION_DATABASE_URL",
        "RETENTION_DATABASE_URL",
        "DATABASE_URL",
    }
    assert urls == [everyone, {"MIGRATION_DATABASE_URL", "DATABASE_URL"}, {"DATABASE_URL"}]
    assert [name for _, given in calls for name in given if name.endswith("_PASSWORD")] == []


def test_the_logins_are_those_of_the_compose_file(tmp_path: Path, private: Path) -> None:
    _, given = called(tmp_path, private)[0]
    secrets = secrets_of(private)
    logins = {
        (urlsplit(given[name]).username, urlsplit(given[name]).password)
        for name in given
        if "DATABASE" in name
    }
    assert logins == {(login, secrets[variable]) for login, variable in COMPOSE_DATABASES}


def test_the_service_is_given_settings_that_exist_and_trusts_the_doubles(
    tmp_path: Path, private: Path
) -> None:
    _, given = called(tmp_path, private, ISSUER_PORT="9100")[-1]
    (issuer,) = json.loads(given["AUTH_ISSUERS"])
    (compose,) = documents("compose.yaml")
    (of_containers,) = json.loads(compose["services"]["service"]["environment"]["AUTH_ISSUERS"])
    assert issuer["issuer"] == of_containers["issuer"]
    assert issuer["jwksUrl"] == "http://127.0.0.1:9100/jwks.json"
    set_here = given.keys() - {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE", "ISSUER_PORT"}
    assert set_here <= SETTINGS
    assert {"REQUEST_API_ENABLED", "WORKER_ENABLED", "CURSOR_SECRETS"} <= set_here
