"""`orchestrator-sandbox up`: keep everything running until a signal comes."""

import os
import shlex
from pathlib import Path

from orchestrator_sandbox.examples import Examples
from orchestrator_sandbox.failure import StopRequested
from orchestrator_sandbox.sandbox import Sandbox, SandboxPlan, running_sandbox
from orchestrator_sandbox.state_directory import claimed_directory
from orchestrator_sandbox.stopping import Stopping
from orchestrator_sandbox.token_request import issued_token

LOOK_SECONDS = 0.2
FIRST_ROLES = ("ANALISTA", "SOLICITANTE", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN")


def up(plan: SandboxPlan, directory: Path, examples: Examples) -> int:
    """Run until SIGINT or SIGTERM and return 0; raise SandboxFailure when a part doesn't start, or falls."""
    stopping = Stopping()
    stopping.listen()
    try:
        with claimed_directory(directory) as state:
            print(f"Starting in {state.path} …", flush=True)
            with running_sandbox(plan, state, stopping) as sandbox:
                state.announce(_document(sandbox))
                print(_greeting(sandbox, examples), flush=True)
                _watch(sandbox)
    except StopRequested:
        print("Stopped.", flush=True)
    return 0


def _watch(sandbox: Sandbox) -> None:
    try:
        while True:
            sandbox.check()
            sandbox.stopping.requested.wait(LOOK_SECONDS)
    finally:
        # Whoever reads the file must not find addresses of what is going away.
        sandbox.state.withdraw()
        print("Stopping: workers first, the database last. Once more stops at once.", flush=True)


def _document(sandbox: Sandbox) -> dict[str, object]:
    assert sandbox.database is not None, "a running sandbox has its database"
    return {
        "apiUrl": sandbox.api_url,
        "issuerUrl": sandbox.issuer_url,
        "providersUrl": sandbox.providers_url,
        "databaseUrl": sandbox.database.runtime,
        "migrationDatabaseUrl": sandbox.database.migration,
        "retentionDatabaseUrl": sandbox.database.retention,
        "superuserDatabaseUrl": sandbox.database.superuser,
        "processes": {"sandbox": os.getpid(), **sandbox.process_ids()},
    }


def _greeting(sandbox: Sandbox, examples: Examples) -> str:
    token = issued_token(sandbox.issuer_url, subject="analista-1", roles=FIRST_ROLES, scopes=("SUCURSAL-1",))
    lines = (
        "Ready.",
        f"  API              {sandbox.api_url}/api/v1",
        f"  token issuer     {sandbox.issuer_url}",
        f"  provider doubles {sandbox.providers_url}",
        f"  workers          {len(sandbox.workers)}",
        f"  everything else  {sandbox.state.ready_file}",
        f"  logs             {sandbox.state.path}/*.log",
        "",
        "The example flow, as a draft (the token in it lasts an hour):",
        "",
        _first_command(sandbox.api_url, token, examples.credit_flow_file),
        "",
        "Ctrl-C stops everything.",
    )
    return "\n".join(lines)


def _first_command(api_url: str, token: str, flow_file: Path) -> str:
    return shlex.join(
        [
            "curl",
            "-i",
            f"{api_url}/api/v1/admin/flows",
            "-H",
            f"Authorization: Bearer {token}",
            "-H",
            "Content-Type: application/json",
            "--data-binary",
            f"@{flow_file}",
        ]
    )
