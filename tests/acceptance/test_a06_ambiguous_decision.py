"""A06 two UNIQUE rules match."""

from typing import Any

import pytest
from tests.acceptance.credit import CONSENT
from tests.acceptance.flows import scoring_by
from tests.plugins.api_user import exact
from tests.plugins.running_service import RunningService


def _above(identifier: str, threshold: dict[str, Any], output: str) -> dict[str, Any]:
    when = {"op": "GT", "left": {"path": "/results/buro/score"}, "right": threshold}
    return {"id": identifier, "when": when, "output": output}


@pytest.mark.parametrize("second", ["M", "N"], ids=["other-output", "same-output"])
def test_a06_two_rules_that_match_at_run_time_decide_nothing(service: RunningService, second: str) -> None:
    # Whether thresholds from the data overlap is not known before there are data.
    document = scoring_by(
        [
            _above("alto", {"path": "/request/data/umbralAlto"}, "N"),
            _above("medio", {"path": "/request/data/umbralMedio"}, second),
            _above("maximo", {"literal": 999}, "M"),
        ]
    )
    data = {"clienteId": "CLI-71", "umbralAlto": 70, "umbralMedio": 60}
    analyst = service.user()
    request = analyst.create(service.offer(document), data)

    execution = analyst.run(request, "VALIDAR_BURO", CONSENT)

    assert (execution["status"], execution["errorCode"]) == ("FAILED", "AMBIGUOUS_DECISION")
    assert execution["result"] is None
    assert (analyst.shown(request)["state"], analyst.shown(request)["data"]) == ("BURO_PENDIENTE", data)


def test_a06_the_same_rules_decide_where_only_one_of_them_matches(service: RunningService) -> None:
    document = scoring_by(
        [
            _above("alto", {"path": "/request/data/umbralAlto"}, "N"),
            _above("medio", {"path": "/request/data/umbralMedio"}, "M"),
        ]
    )
    analyst = service.user()
    request = analyst.create(
        service.offer(document), {"clienteId": "CLI-71", "umbralAlto": 100, "umbralMedio": 60}
    )

    assert analyst.run(request, "VALIDAR_BURO", CONSENT)["result"]["outcome"] == "M"


def test_a06_an_overlap_that_can_be_seen_is_not_published_and_is_shown_by_a_witness(
    service: RunningService,
) -> None:
    document = scoring_by([_above("alto", {"literal": 70}, "N"), _above("medio", {"literal": 60}, "M")])
    created = service.author.call("POST", "/admin/flows", {**document, "flowKey": "SOLAPADO"})
    flow = f"/admin/flows/{exact(created)['flowId']}"

    refused = service.author.call("POST", f"{flow}/publish", {})

    assert (refused.status_code, exact(refused)["code"]) == (422, "FLOW_INVALID")
    overlap = next(each for each in exact(refused)["findings"] if each["severity"] == "error")
    assert overlap["code"] == "OVERLAPPING_RULES"
    assert overlap["pointer"].startswith("/decisions/0/rules/")
    assert overlap["witness"]["results"]["buro"]["score"] > 70
    assert exact(service.author.call("GET", flow))["status"] == "DRAFT"
