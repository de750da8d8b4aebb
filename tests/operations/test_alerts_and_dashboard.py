"""What `ops/` holds can be loaded as it is, and speaks of metrics, labels and sections that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import promql_parser
import pytest
import yaml  # type: ignore[import-untyped]  # its types come as a distribution of their own, for one line of use
from tests.plugins.running_service import RunningService

from orchestrator_service.metric_table import METRICS

ROOT = Path(__file__).parents[2]
RULES = yaml.safe_load((ROOT / "ops" / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((ROOT / "ops" / "grafana" / "orchestrator.json").read_text(encoding="utf-8"))
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
_SUFFIXES = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("",), "gauge": ("",)}
EXPOSED = {
    metric.name + suffix: {*metric.labels, "le"} if suffix == "_bucket" else set(metric.labels)
    for metric in METRICS
    for suffix in _SUFFIXES[metric.kind]
}
_OF_A_TARGET = {"instance", "job"}


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_is_a_rule_of_prometheus_that_leads_to_its_section(name: str) -> None:
    rule = ALERTS[name]
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+[smh]", rule["for"])
    assert rule["labels"]["severity"] in ("warning", "critical")
    place, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / place).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert (anchor, name) in {(heading.lower(), heading) for heading in headings}


def test_every_alert_has_a_name_of_its_own_and_every_section_its_alert() -> None:
    rules = [rule["alert"] for group in RULES["groups"] for rule in group["rules"]]
    assert len(rules) == len(set(rules))
    assert len({group["name"] for group in RULES["groups"]}) == len(RULES["groups"])
    runbook = (ROOT / "docs" / "RUNBOOK.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (Orchestrator\w+)$", runbook, flags=re.MULTILINE)) == set(rules)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_asks_for_what_is_exposed(name: str) -> None:
    _check(ALERTS[name]["expr"])
    summary = ALERTS[name]["annotations"]["summary"]
    told = set(re.findall(r"\$labels\.(\w+)", summary))
    assert told <= _kept_labels(ALERTS[name]["expr"])


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_asks_for_what_is_exposed(title: str) -> None:
    panel = PANELS[title]
    assert panel["targets"]
    for target in panel["targets"]:
        expression = target["expr"].replace("$__rate_interval", "5m")
        _check(expression)
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= _kept_labels(expression)


def test_a_circuit_that_is_tried_now_and_then_counts_as_open_meanwhile() -> None:
    # A probe that a scrape meets would else begin the alert's time anew, and a hanging provider never raise it.
    assert 'state=~"open|probing"' in ALERTS["OrchestratorCircuitOpen"]["expr"]


def test_what_an_alert_counts_by_a_problem_s_code_is_told_before_it_happens(watched: RunningService) -> None:
    asked = {code for rule in ALERTS.values() for code in re.findall(r'code="(\w+)"', rule["expr"])}
    assert asked == {"STORAGE_UNAVAILABLE", "AUTHENTICATION_UNAVAILABLE"}
    told = watched.user().http.get(f"{watched.process.said['managementUrl']}/metrics").text
    for code in asked:
        series = (
            f'orchestrator_http_problems_total{{code="{code}",route="/api/v1/requests/{{requestId}}/events"}}'
        )
        assert f"{series} " in told


def test_every_metric_is_on_the_dashboard() -> None:
    asked = " ".join(target["expr"] for panel in PANELS.values() for target in panel["targets"])
    assert [metric.name for metric in METRICS if metric.name not in asked] == []


def test_the_dashboard_names_no_source_of_one_installation_and_its_panels_do_not_overlap() -> None:
    assert {panel["datasource"]["uid"] for panel in PANELS.values()} == {"${datasource}"}
    assert [variable["name"] for variable in DASHBOARD["templating"]["list"]] == ["datasource"]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken = [cell for panel in DASHBOARD["panels"] for cell in _cells(panel["gridPos"])]
    assert len(taken) == len(set(taken))
    assert all(column < 24 for column, _ in taken)


def test_a_query_of_a_metric_or_a_label_that_does_not_exist_is_found() -> None:
    for wrong in ("sum(orchestrator_nothing)", 'orchestrator_worker_slots{status="x"}', "sum("):
        with pytest.raises((AssertionError, ValueError)):
            _check(wrong)


def _check(expression: str) -> None:
    selectors: list[promql_parser.VectorSelector] = []

    def look(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            selectors.append(node)
        if isinstance(node, promql_parser.MatrixSelector):
            selectors.append(node.vector_selector)

    promql_parser.walk(promql_parser.parse(expression), look)
    assert selectors
    for selector in selectors:
        assert selector.name in EXPOSED, f"{selector.name} is not exposed"
        asked = {matcher.name for matcher in selector.matchers.matchers} - {"__name__"}
        assert asked <= EXPOSED[selector.name] | _OF_A_TARGET, expression


def _kept_labels(expression: str) -> set[str]:
    """Return the labels by which the expression's aggregations tell series apart."""
    return {
        label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")
    }


def _cells(place: dict[str, int]) -> Iterator[tuple[int, int]]:
    for column in range(place["x"], place["x"] + place["w"]):
        for line in range(place["y"], place["y"] + place["h"]):
            yield column, line
