"""Policies of retention are read strictly; an erasure's fact names parts and reasons alone."""

from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import AuditEntryId, FlowId
from orchestrator_domain.request.available_events import available_events
from orchestrator_domain.request.erasure import (
    Erasure,
    PersonalData,
    RetentionRule,
    erasure_fact,
    read_policy,
)
from orchestrator_domain.testing.examples import CLERK, draft_flow, flow_document, published, request_of
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

IDENTIFIERS = SequentialIdentifiers()
RULE: dict[str, Any] = {"name": "old", "afterDays": 730, "erase": ["HISTORY", "REQUEST_DATA"]}


def test_a_rule_selects_everything_that_it_does_not_narrow() -> None:
    assert read_policy({"rules": [RULE]}) == (
        RetentionRule(
            name="old", after_days=730, erase=frozenset({PersonalData.HISTORY, PersonalData.REQUEST_DATA})
        ),
    )


def test_a_rule_narrows_by_type_flow_state_and_scope() -> None:
    narrowed: dict[str, Any] = {
        "requestTypes": ["A"],
        "flows": ["B"],
        "states": ["C"],
        "scopes": ["D"],
        "openRequests": True,
    }
    (rule,) = read_policy({"rules": [{**RULE, **narrowed}]})
    assert (rule.request_types, rule.flows, rule.states, rule.scopes, rule.open_requests) == (
        frozenset("A"),
        frozenset("B"),
        frozenset("C"),
        frozenset("D"),
        True,
    )


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({}, ""),
        ({"rules": []}, "/rules"),
        ({"rules": [{**RULE, "afterDays": -1}]}, "/rules/0/afterDays"),
        ({"rules": [{**RULE, "afterDays": True}]}, "/rules/0/afterDays"),
        ({"rules": [{**RULE, "erase": []}]}, "/rules/0/erase"),
        ({"rules": [{**RULE, "erase": ["ALL"]}]}, "/rules/0/erase/0"),
        ({"rules": [{**RULE, "states": []}]}, "/rules/0/states"),
        ({"rules": [{**RULE, "name": "an old one"}]}, "/rules/0/name"),
        ({"rules": [RULE, RULE]}, "/rules/1/name"),
    ],
)
def test_what_is_no_policy_is_refused_at_its_place(document: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_policy(document)
    assert refused.value.pointer == pointer


def test_every_place_that_is_no_policy_comes_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_policy(
            {"rules": [RULE, {**RULE, "afterDays": -1}, {"name": RULE["name"], "states": [], "erase": 1}]}
        )
    assert {pointer for pointer, _ in refused.value.violations} == {
        "/rules/1/afterDays",
        "/rules/1/name",
        "/rules/2",
        "/rules/2/erase",
        "/rules/2/name",
        "/rules/2/states",
    }


@pytest.mark.parametrize(
    "document", [{"rules": {"name": "a"}}, {"rules": ["a", "a"]}, {"rules": [{"name": 1}] * 2}]
)
def test_names_are_compared_where_there_are_any(document: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_policy(document)
    assert not any(told.startswith("Another rule") for _, told in refused.value.violations)


def test_a_misspelt_member_is_refused() -> None:
    with pytest.raises(InvalidInput):
        read_policy({"rules": [{**RULE, "state": ["C"]}]})


def test_the_fact_names_parts_and_reasons_alone() -> None:
    fact = erasure_fact(
        [PersonalData.RESULTS, PersonalData.HISTORY],
        Erasure(run="r-1", rule="old"),
        flow_id=FlowId(IDENTIFIERS.uuid()),
        entry_id=AuditEntryId(IDENTIFIERS.uuid()),
        salt=IDENTIFIERS.salt(),
    )
    assert (fact.kind, fact.actor) == (AuditKind.PERSONAL_DATA_ERASED, "system")
    assert fact.detail == {"erased": ["HISTORY", "RESULTS"], "run": "r-1", "rule": "old", "reference": None}


def test_a_request_without_its_data_offers_no_events() -> None:
    request, flow = (
        request_of(published(draft_flow(IDENTIFIERS)), IDENTIFIERS),
        ReadyFlow(definition=read_flow(flow_document())),
    )
    assert available_events(request, flow, CLERK, active=None).available
    erased = evolve(request, data={}, data_erased_at=ManualClock().now())
    assert not available_events(erased, flow, CLERK, active=None).available
