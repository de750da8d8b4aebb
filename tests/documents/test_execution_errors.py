"""The page of execution errors has every code that a run can give, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.reference.execution_errors_page import EXECUTION_ERRORS

ROOT = Path(__file__).parents[2]
DOMAIN = ROOT / "packages" / "orchestrator-domain" / "src" / "orchestrator_domain"
WORKER = ROOT / "packages" / "orchestrator-worker" / "src" / "orchestrator_worker"
# Rooms that judge catalogues and flows have codes of findings instead.
FINDINGS = {"catalogue_document", "integration_catalogue", "contract_matching", "catalogue_soundness"}
SOURCES = [
    *(DOMAIN / "execution").glob("*.py"),
    DOMAIN / "usecases" / "run_execution.py",
    DOMAIN / "usecases" / "run_probe.py",
    DOMAIN / "usecases" / "resolve_execution.py",
    *(file for file in WORKER.glob("*.py") if file.stem not in FINDINGS),
]
CODE = re.compile(r"[A-Z]+(_[A-Z]+)+")
TOLD = {code for group in EXECUTION_ERRORS.values() for code in group}


def given_codes(source: str) -> Iterator[str]:
    """Give each code that is handed over by its name, or is the default of one."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.keyword(arg="code" | "error_code", value=value):
                yield from _codes(value)
            case ast.AnnAssign(target=ast.Name(id="error_code"), value=ast.expr() as value):
                yield from _codes(value)
            case ast.Call(func=ast.Name(id="_stopped" | "_unsettled"), args=arguments):
                for argument in arguments:
                    yield from _codes(argument)
            case _:
                pass


def _codes(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value


def test_every_code_that_a_run_gives_is_told() -> None:
    given = {code for file in SOURCES for code in given_codes(file.read_text(encoding="utf-8"))}
    assert len(given) > 20
    assert given - TOLD == set()


def test_every_code_that_is_told_is_in_the_sources() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in SOURCES)
    assert [code for code in TOLD if f'"{code}"' not in sources] == []
