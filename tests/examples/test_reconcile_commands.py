"""`orchestrator reconcile`: what an operator sees and does from a shell, against a running service."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.acceptance.flows import askable_compra
from tests.acceptance.purchase import Purchase, stopped_purchase
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

from orchestrator_service.cli import main

EVIDENCE = ("--evidence", "The ledger shows one payment under the key.", "--reference", "OPS-17")
CLOSING = ("--resolution", "CLOSE_WITHOUT_TRANSITION", "--stopped-action", "autorizar", *EVIDENCE)
RESULT = {"status": "AUTHORIZED", "authorizationId": "PAG-000001"}


@pytest.fixture
def purchase(
    service: RunningService, providers: ScriptedProviders, monkeypatch: pytest.MonkeyPatch
) -> Purchase:
    """A purchase that was charged without an answer, and the environment of its operator."""
    stopped = stopped_purchase(service, providers, {"mode": "drop_after_effect"})
    monkeypatch.setenv("ORCHESTRATOR_URL", stopped.operator.api_url)
    monkeypatch.setenv("ORCHESTRATOR_TOKEN", stopped.operator.token or "")
    return stopped


@pytest.fixture
def confirming(tmp_path: Path) -> Sequence[str]:
    """The arguments that confirm the payment."""
    file = tmp_path / "result.json"
    file.write_text(json.dumps(RESULT))
    kind = ("--resolution", "RESUME_WITH_RESULT", "--result", str(file))
    return (*kind, "--stopped-action", "autorizar", *EVIDENCE)


def run(*arguments: str) -> int:
    return main(["reconcile", *arguments])


def of(purchase: Purchase) -> tuple[str, ...]:
    """Name what is resolved: the execution, and the stop that was looked at."""
    return ("resolve", purchase.execution_id, "--stop", str(purchase.stop))


def test_what_waits_is_listed_with_its_key(purchase: Purchase, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    said = capsys.readouterr().out
    assert purchase.execution_id in said
    assert f", stop {purchase.stop}\n" in said
    assert f"autorizar UNKNOWN after 1 (NON_IDEMPOTENT_WRITE), key {purchase.execution_id}:autorizar" in said
    assert run("list", "--format", "json") == 0
    cases = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert purchase.execution_id in [case["executionId"] for case in cases]


def test_one_execution_is_shown_with_what_it_admits(
    purchase: Purchase, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", purchase.execution_id) == 0
    said = capsys.readouterr().out
    assert "admits RESUME_WITH_RESULT, RESUME_EFFECT_ABSENT, CLOSE_WITHOUT_TRANSITION" in said
    assert "a result must satisfy" in said
    assert f"Idempotency-Key {purchase.execution_id}:autorizar, provider's reference none" in said
    assert "X-Correlation-Id " in said
    assert "COMPRA-1" not in said


def test_a_dry_run_tells_what_would_happen_and_changes_nothing(
    purchase: Purchase, confirming: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = purchase.kinds()
    assert run(*of(purchase), *confirming, "--dry-run") == 0
    said = capsys.readouterr().out
    assert f"Stop {purchase.stop} would be resolved." in said
    assert "autorizar would count as done with this result" in said
    assert run(*of(purchase), *CLOSING, "--dry-run") == 0
    assert "would be released in PAGO_PENDIENTE" in capsys.readouterr().out
    absent = ("--resolution", "RESUME_EFFECT_ABSENT", "--stopped-action", "autorizar", *EVIDENCE)
    assert run(*of(purchase), *absent, "--dry-run") == 0
    assert f"again under {purchase.execution_id}:autorizar" in capsys.readouterr().out
    assert purchase.kinds() == before


def test_a_dry_run_tells_what_would_be_refused(
    purchase: Purchase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.json"
    file.write_text('{"status": "AUTHORIZED"}')
    arguments = ("--resolution", "RESUME_WITH_RESULT", "--result", str(file), *EVIDENCE)
    assert run(*of(purchase), *arguments, "--dry-run", "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["wouldBeTaken"] is False
    assert "The action that stopped is autorizar; name it with --stopped-action." in told["told"]
    assert any("breaks its schema" in sentence for sentence in told["told"])


def test_another_stop_than_the_one_that_waits_is_refused_dry_or_not(
    purchase: Purchase, capsys: pytest.CaptureFixture[str]
) -> None:
    assert purchase.stop is not None
    other = ("resolve", purchase.execution_id, "--stop", str(purchase.stop + 1), *CLOSING)
    assert run(*other, "--dry-run") == 1
    assert f"waits at stop {purchase.stop}; verify that one, and name it" in capsys.readouterr().out
    assert run(*other) == 1
    assert "EXECUTION_NOT_RESOLVABLE: The execution has stopped anew" in capsys.readouterr().err


def test_a_resolution_without_its_stop_is_not_sent(
    purchase: Purchase, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("resolve", purchase.execution_id, *CLOSING)
    assert ended.value.code == 2
    assert "--stop" in capsys.readouterr().err
    assert purchase.ended()["status"] == "RECONCILIATION_REQUIRED"


def test_a_dry_run_holds_the_evidence_to_the_bounds_that_the_api_does(
    purchase: Purchase, capsys: pytest.CaptureFixture[str]
) -> None:
    closing = ("--resolution", "CLOSE_WITHOUT_TRANSITION", "--stopped-action", "autorizar")
    for text, reference in ((" ", "OPS-17"), ("Seen.", "x" * 201), ("x" * 4001, "OPS-17")):
        evidence = ("--evidence", text, "--reference", reference)
        assert run(*of(purchase), *closing, *evidence, "--dry-run") == 1
        assert "The evidence's " in capsys.readouterr().out
        assert run(*of(purchase), *closing, *evidence) == 1
        assert "SCHEMA_VIOLATION" in capsys.readouterr().err


def test_what_workers_have_asked_is_told_and_takes_no_decision_away(
    service: RunningService,
    providers: ScriptedProviders,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lost = stopped_purchase(service, providers, {"mode": "drop_before_answer"}, askable_compra())
    monkeypatch.setenv("ORCHESTRATOR_URL", lost.operator.api_url)
    monkeypatch.setenv("ORCHESTRATOR_TOKEN", lost.operator.token or "")
    for command in (("list",), ("show", lost.execution_id)):
        assert run(*command) == 0
        said = capsys.readouterr().out
        assert "autorizar was asked about" in said
        assert "NOT_FOUND" in said
        assert "which proves no absence" in said
    absent = ("--resolution", "RESUME_EFFECT_ABSENT", "--stopped-action", "autorizar", *EVIDENCE)
    assert run(*of(lost), *absent, "--dry-run") == 0
    assert "it may happen twice" in capsys.readouterr().out


def test_a_confirmed_payment_is_finished_and_its_repetition_is_the_same(
    purchase: Purchase, confirming: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = (*of(purchase), *confirming, "--key", "shell-1")
    assert run(*command) == 0
    assert "the execution is PENDING now" in capsys.readouterr().out
    assert purchase.ended()["result"]["toState"] == "PAGADA"
    assert run(*command, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "SUCCEEDED"
    assert run(*of(purchase), *CLOSING, "--dry-run") == 1
    assert "SUCCEEDED and doesn't wait" in capsys.readouterr().out
    assert purchase.charges() == 1


def test_a_refusal_of_the_api_is_told_by_its_code(
    purchase: Purchase, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ("--resolution", "CLOSE_WITHOUT_TRANSITION", "--stopped-action", "pagar", *EVIDENCE)
    assert run(*of(purchase), *other) == 1
    assert capsys.readouterr().err.startswith("EXECUTION_NOT_RESOLVABLE: ")
    assert run("show", "00000000-0000-7000-8000-000000000000") == 1
    assert capsys.readouterr().err.startswith("NOT_FOUND: ")


@pytest.mark.parametrize(
    ("variables", "arguments"),
    [
        ({"ORCHESTRATOR_URL": ""}, ("list",)),
        ({"ORCHESTRATOR_URL": "file:///etc/passwd"}, ("list",)),
        ({"ORCHESTRATOR_URL": "http://127.0.0.1:1"}, ("list",)),
        ({"ORCHESTRATOR_TOKEN": ""}, ("list",)),
        ({"ORCHESTRATOR_TOKEN": "a\nb"}, ("list",)),
        ({}, ("show", "first")),
        (
            {},
            (
                "resolve",
                "00000000-0000-7000-8000-000000000000",
                "--stop",
                "1",
                *CLOSING,
                "--result",
                "none.json",
            ),
        ),
    ],
    ids=["no-url", "no-http", "nobody-there", "no-token", "two-lines", "no-id", "result-with-closing"],
)
def test_what_can_t_be_asked_ends_with_2_and_one_sentence(
    variables: dict[str, str],
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    usable = {"ORCHESTRATOR_URL": "http://127.0.0.1:1", "ORCHESTRATOR_TOKEN": "a-token"}
    for name, value in {**usable, **variables}.items():
        monkeypatch.setenv(name, value)
    assert run(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("API_UNUSABLE: ")
