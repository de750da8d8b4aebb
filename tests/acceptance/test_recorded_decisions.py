"""What the service recorded of the example flow can be checked again, and tried on its next version."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.credit import CreditRequest
from tests.acceptance.flows import credito
from tests.plugins.api_user import exact
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

from orchestrator_service.cli import main


@pytest.fixture
def flow_key(service: RunningService) -> str:
    """The key of a flow, and of its type, that no other case has requests of."""
    return service.offer(credito())


@pytest.fixture
def decided(service: RunningService, providers: ScriptedProviders, flow_key: str) -> CreditRequest:
    """A request that was decided after a document had been refused; the bureau gave 71."""
    credit = CreditRequest.created(service, providers, flow_key)
    credit.assign()
    refused = credit.upload("INE")
    providers.know(invalidDocuments={refused: ["BORROSA"]})
    credit.register("INE", refused)
    credit.register("INE")
    credit.register("ESTADO_CUENTA")
    assert credit.consult_bureau()["result"]["outcome"] == "N"
    return credit


def told(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, list[Any]]:
    code = main([*command, "--format", "json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_decision_that_the_service_recorded_comes_out_again(
    decided: CreditRequest, service: RunningService, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = told(capsys, "audit", "verify", "--database", service.database.runtime_url)

    *faulty, summary = lines
    assert [line for line in faulty if line["requestId"] == decided.id] == []
    assert summary["decisionsVerified"] >= 5


def test_a_threshold_that_moved_is_told_with_the_request_that_it_would_have_changed(
    decided: CreditRequest,
    service: RunningService,
    flow_key: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    candidate = {**deepcopy(credito()), "flowKey": flow_key, "version": 2}
    high, middle = candidate["decisions"][2]["rules"]
    high["when"]["right"]["literal"] = middle["when"]["args"][1]["right"]["literal"] = 75
    file = tmp_path / "v2.json"
    file.write_text(json.dumps(candidate), encoding="utf-8")

    database = service.database.runtime_url
    code, (report,) = told(capsys, "flow", "replay", "--database", database, "--flow", str(file))

    assert (code, report["requests"], report["eventsCompared"], report["different"]) == (1, 1, 5, 1)
    (example,) = report["examples"]
    assert (example["requestId"], example["transitionId"]) == (decided.id, "consultar-buro")
    assert (example["before"]["rules"], example["after"]["rules"]) == (["alto"], ["medio"])

    draft = exact(service.author.call("POST", "/admin/flows", candidate))
    editor = service.user("editora-1", roles=("FLOW_EDITOR", "ANALISTA"))
    over_http = editor.call("POST", f"/admin/flows/{draft['flowId']}/impact", {})
    assert exact(over_http) == {"stoppedBy": None, **report}
    elsewhere = service.user("autora-2", roles=("FLOW_EDITOR",), scopes=("SUCURSAL-2",))
    seen = exact(elsewhere.call("POST", f"/admin/flows/{draft['flowId']}/impact", {}))
    assert (seen["requests"], seen["examples"]) == (0, [])
