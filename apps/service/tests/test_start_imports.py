"""What a process doesn't load before it is ready, so that it is ready soon, and small."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.trial_catalogue import trial_catalogue

# Alembic composes migrations with it, `make statements` the statements; the others wait for the first token or call.
NOT_LOADED = {"sqlalchemy", "httpx2", "httpcore2", "joserfc", "cryptography"}


@pytest.fixture
def loaded(database: TestDatabase, tmp_path: Path) -> set[str]:
    """The packages and libraries that a process with an API and a worker has imported when it is ready."""
    catalogue = tmp_path / "catalogue.json"
    catalogue.write_text(json.dumps(trial_catalogue()))
    issuer = {"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["RS256"]}
    variables = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database.runtime_url,
        "REQUEST_API_ENABLED": "true",
        "FLOW_ADMIN_ENABLED": "true",
        "WORKER_ENABLED": "true",
        "AUTH_ISSUERS": json.dumps([issuer]),
        "CURSOR_SECRETS": "abcdefghijklmnopqrstuvwxyz012345",
        "INTEGRATION_CATALOGUE": str(catalogue),
        "PROVIDERS_URL": "http://127.0.0.1:1",
        "LISTEN_PORT": "0",
        "MANAGEMENT_PORT": "0",
    }
    told = tmp_path / "imports"
    with (
        told.open("w") as imports,
        subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "orchestrator_service.cli", "serve"],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=imports,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        said = process.stdout.readline()
        process.terminate()
    assert json.loads(said)["ready"], told.read_text()
    lines = (line for line in told.read_text().splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_process_is_ready_without_what_it_needs_later_or_never(loaded: set[str]) -> None:
    assert "orchestrator_worker" in loaded
    assert "psycopg" in loaded
    assert loaded & NOT_LOADED == set()
