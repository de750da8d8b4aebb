"""Nobody has written these requests: they are generated from the contract, links included, and sent to the real thing."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from tests.acceptance.flows import credito
from tests.plugins.openapi_contract import CONTRACT_FILE
from tests.plugins.running_service import AUTHOR_ROLES, SCOPE, RunningService

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LINKS_LEAST = 6
SECONDS_MAX = 240.0
# What a schema can't say (a flow that makes sense, a revision that is current) is refused, so not every request that
# fits the schema is accepted.
CHECKS_LEFT_OUT = "positive_data_acceptance"


@pytest.fixture(scope="module")
def explorer() -> Path:
    """The generator of requests, in its own environment, which is made at its first use."""
    subprocess.run(["make", "--silent", "explorer"], cwd=ROOT, check=True)
    return ROOT / ".venv-exploration" / "bin" / "schemathesis"


@pytest.fixture(scope="module")
def explored(standing_service: Callable[..., RunningService]) -> RunningService:
    """A service with every group of routes, and with a worker."""
    return standing_service(WORKER_ENABLED="true", API_DOCS_ENABLED="true")


def test_generated_requests_meet_no_server_error_and_no_answer_outside_the_contract(
    explored: RunningService, explorer: Path, tmp_path: Path
) -> None:
    said = _explore(explored, explorer, tmp_path, phases="examples,coverage,fuzzing", examples_max=8)
    assert "No issues found" in said


def test_generated_chains_of_requests_follow_the_links_without_a_server_error(
    explored: RunningService, explorer: Path, tmp_path: Path
) -> None:
    said = _explore(explored, explorer, tmp_path, phases="stateful", examples_max=60)
    links = re.search(r"API Links: +(\d+) covered", said)
    assert links is not None
    assert int(links[1]) >= LINKS_LEAST, said


def _explore(
    explored: RunningService, explorer: Path, directory: Path, *, phases: str, examples_max: int
) -> str:
    """Run the explorer; the process that it explores has to stand afterwards. Returns what it said."""
    everybody = explored.user(
        "exploradora-1", roles=(*AUTHOR_ROLES, "ANALISTA", "AUDITOR", "EXECUTION_OPERATOR")
    )
    process = explored.process.pid
    exploration = subprocess.run(
        [
            *(str(explorer), "--config-file", str(HERE / "schemathesis.toml")),
            *("run", str(CONTRACT_FILE), "--url", everybody.api_url, "--phases", phases),
            *("--header", f"Authorization: Bearer {everybody.token}"),
            *("--header", f"X-Correlation-Id: exploration-{uuid4().hex}"),
            *("--exclude-checks", CHECKS_LEFT_OUT, "--max-examples", str(examples_max)),
            *("--generation-deterministic", "--no-shrink", "--request-timeout", "40"),
            *("--no-color", "--warnings", "off"),
        ],
        cwd=directory,
        env={**os.environ, **_hooks(explored)},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert exploration.returncode == 0, exploration.stdout + exploration.stderr
    assert everybody.call("GET", "/requests/0").status_code == 404
    assert explored.process.pid == process
    return exploration.stdout


def _hooks(explored: RunningService) -> dict[str, str]:
    """Tell the hooks what exists, so that generated requests get somewhere."""
    type_key = f"T-{uuid4().hex}"
    flow_id = explored.publish({**credito(), "flowKey": type_key})
    explored.activate(type_key, flow_id)
    knows = {
        "typeKey": type_key,
        "scope": SCOPE,
        "flowId": flow_id,
        "event": "ASIGNAR_CLIENTE",
        "eventData": {"clienteId": "CLI-1"},
        "definition": credito(),
    }
    return {
        "EXPLORATION_KNOWS": json.dumps(knows),
        "PYTHONPATH": str(HERE),
        "SCHEMATHESIS_HOOKS": "exploration_hooks",
        "PYTHONWARNINGS": "ignore",
    }
