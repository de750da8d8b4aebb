"""The demonstration, run as `make demo` runs it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXPECTED = {
    "flow validated and published": "PUBLISHED",
    "flow activated": "active for CREDITO",
    "client not found": "CLIENTE_NO_ENCONTRADO, CREADA",
    "client found": "CLIENTE_ENCONTRADO, INE_PENDIENTE",
    "event repeated with its key": "same execution, no second call",
    "INE registered": "DOCUMENTO_VALIDO, ESTADO_CUENTA_PENDIENTE",
    "bank statement registered": "DOCUMENTO_VALIDO, BURO_PENDIENTE",
    "bureau scores 71": "N, PASO_N",
    "bureau scores 70": "M, PASO_M",
    "bureau scores 61": "M, PASO_M",
    "bureau scores 60": "MANUAL, REVISION_MANUAL",
    "two events at once": "202 and 409 or 202 and 412",
    "worker killed during a call": "N, PASO_N",
    "what the bureau saw of it": "2 calls, 1 key, 1 effect, fence grown",
    "version 2 published and activated": "PUBLISHED, active for CREDITO",
    "requests before and after": "version 1 and version 2",
    "version 1 goes on as before": "BURO_PENDIENTE, then N, PASO_N",
    "version 2 asks for the licence": "LICENCIA_PENDIENTE",
    "licence registered": "DOCUMENTO_VALIDO, BURO_PENDIENTE",
    "version 2 at the bureau": "N, PASO_N",
    "purchase published and activated": "PUBLISHED, active for COMPRA",
    "purchase created, client found": "CLIENTE_ENCONTRADO, PAGO_PENDIENTE",
    "answer to the payment lost": "RECONCILIATION_REQUIRED PROVIDER_TIMEOUT",
    "operator looks what waits": "1: autorizar UNKNOWN, NON_IDEMPOTENT_WRITE",
    "operator confirms from the ledger": "AUTORIZADO, PAGADA",
    "what the payment provider saw": "1 call, 1 charge",
    "purchase version 2 asks the ledger": "PUBLISHED, active for COMPRA",
    "lost payment, found by itself": "AUTORIZADO, PAGADA",
    "lost payment, not in the ledger": "RECONCILIATION_REQUIRED PROVIDER_TIMEOUT",
    "what the worker has asked": "autorizar: NOT_FOUND, asked again",
    "operator has made sure of it": "AUTORIZADO, PAGADA",
    "what the provider saw of both": "3 calls, 2 charges",
}

# What section 16 of the specification wants to see reproduced from a clean checkout, and the steps that show it.
SECTION_16 = {
    "publication and activation of two request types": (
        "flow validated and published",
        "flow activated",
        "purchase published and activated",
    ),
    "client found and not found": ("client found", "client not found"),
    "INE and bank statement captured": ("INE registered", "bank statement registered"),
    "scoring at its bounds": ("bureau scores 71", "bureau scores 70", "bureau scores 61", "bureau scores 60"),
    "version 2 with the licence published": (
        "version 2 published and activated",
        "version 2 asks for the licence",
        "licence registered",
    ),
    "versions 1 and 2 side by side": (
        "requests before and after",
        "version 1 goes on as before",
        "version 2 at the bureau",
    ),
    "an event repeated": ("event repeated with its key",),
    "two events at once": ("two events at once",),
    "recovery after a restart": ("worker killed during a call", "what the bureau saw of it"),
    "an uncertain effect reconciled": (
        "answer to the payment lost",
        "operator looks what waits",
        "operator confirms from the ledger",
        "what the payment provider saw",
    ),
}


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """Every line of one run."""
    command = [sys.executable, "-m", "orchestrator_sandbox.cli", "demo", "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_every_step_is_seen_as_expected(lines: list[dict[str, Any]]) -> None:
    steps = [line for line in lines if line["kind"] == "step"]
    assert {step["step"]: step["expected"] for step in steps} == EXPECTED
    assert {
        step["step"] for step in steps if step["seen"] in step["expected"].split(" or ")
    } == EXPECTED.keys()


@pytest.mark.parametrize("point", SECTION_16)
def test_every_point_of_section_16_is_reproduced(point: str, lines: list[dict[str, Any]]) -> None:
    seen = {
        line["step"]: line["seen"] in line["expected"].split(" or ")
        for line in lines
        if line["kind"] == "step"
    }
    assert [step for step in SECTION_16[point] if not seen[step]] == []


def test_progress_is_told_before_the_first_step_and_the_verdict_after_the_last(
    lines: list[dict[str, Any]],
) -> None:
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "progress"
    assert kinds[-1] == "end"
    assert (lines[-1]["steps"], lines[-1]["failed"]) == (len(EXPECTED), 0)


def test_the_demonstration_takes_less_than_a_minute(lines: list[dict[str, Any]]) -> None:
    assert lines[-1]["seconds"] < 60


def test_the_readme_shows_every_step(lines: list[dict[str, Any]]) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = [line for line in lines if line["kind"] == "step"]
    assert [step["step"] for step in shown if f"\n{step['step']} " not in readme] == []
    assert [step["expected"] for step in shown if step["expected"] not in readme] == []
