"""Comparing flow versions with what really happened."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import pytest
from attrs import evolve
from tests.plugins.http_service import (
    API,
    AUTHOR,
    HttpService,
    http_service,
    json_of,
    problem_of,
    text_member,
)
from tests.plugins.lending_runs import run_what_is_due

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import BusinessScope, FlowId, RequestId, Role, Subject
from orchestrator_domain.ports.recent_past import RecentPast, RecentRequest
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.testing.examples import flow_document
from orchestrator_domain.usecases.assess_impact import AssessImpactCommand, Bound, ImpactAssessed

SHELF = "shelf-4711"
"""What an action gave, which nobody but an auditor may be told."""
COPIES = "/decisions/0/rules/0/when/args/1/right/literal"
EDITOR = {"sub": "editor-1", "roles": ["FLOW_EDITOR"]}
AUDITING_EDITOR = {"sub": "editor-2", "roles": ["FLOW_EDITOR", "AUDITOR"]}


def candidate(**changes: JsonValue) -> JsonObject:
    """Return a version that lends what lies on another shelf than that, with four copies at least."""
    copies: JsonObject = {
        "op": "GTE",
        "left": {"path": "/results/lookup/copies"},
        "right": {"literal": 4},
    }
    shelf: JsonObject = {"op": "NEQ", "left": {"path": "/results/lookup/shelf"}, "right": {"literal": "B"}}
    rule: JsonObject = {"id": "enough", "when": {"op": "AND", "args": [shelf, copies]}, "output": "FOUND"}
    decision = cast("JsonObject", cast("list[JsonValue]", flow_document()["decisions"])[0])
    return {**flow_document(version=2), "decisions": [{**decision, "rules": [rule]}], **changes}


@pytest.fixture
async def service() -> HttpService:
    """A service with two requests of the clerk in the north: both were lent, one with three copies, one with five."""
    service = http_service()
    await service.published_flow()
    for copies in (3, 5):
        await checked(service, {"found": True, "shelf": SHELF, "copies": copies}, key=str(copies))
    return service


async def checked(
    service: HttpService, result: JsonObject, *, key: str, actor: Mapping[str, Any] | None = None
) -> str:
    """Create a request, check its item, and let the lookup give `result`; return the request's id."""
    data: JsonObject = {"item": "ladder", "deposit": 815}
    created = await service.call(
        "POST",
        f"{API}/requests",
        actor=actor,
        body={"typeKey": "LENDING", "data": data},
        headers={"Idempotency-Key": key},
    )
    request_id = text_member(created, "requestId")
    await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        actor=actor,
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check", "If-Match": "*"},
    )
    await run_what_is_due(service, result, seed=sum(map(ord, key)))
    return request_id


async def impact(
    service: HttpService,
    body: JsonObject | None = None,
    *,
    document: JsonObject | None = None,
    actor: Mapping[str, Any] = EDITOR,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """Write a draft and ask for its impact."""
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=document or candidate())
    path = f"{API}/admin/flows/{text_member(created, 'flowId')}/impact"
    return await service.call("POST", path, actor=actor, body=body or {}, headers=headers)


async def test_what_would_come_out_otherwise_is_counted_and_shown(service: HttpService) -> None:
    shown: Any = json_of(await impact(service))
    assert (shown["requests"], shown["eventsCompared"], shown["different"]) == (2, 2, 1)
    assert shown["outcomes"] == {"FOUND": {"before": 2, "after": 1}, "MISSING": {"before": 0, "after": 1}}
    assert shown["transitions"] == [
        {"transitionId": "check", "before": "FOUND", "after": "MISSING", "count": 1}
    ]
    assert {"decision": "AVAILABILITY", "before": "found", "after": "(default)", "count": 1} in shown["rules"]
    (example,) = shown["examples"]
    assert (example["before"]["state"], example["after"]["state"]) == ("LENT", "OPEN")
    assert (example["before"]["rules"], example["after"]["rules"]) == (["found"], [])
    assert example["trace"] == [
        'enough → FOUND: lookup.shelf ≠ "B" and lookup.copies ≥ 4: false',
    ]
    assert (shown["stoppedBy"], shown["threshold"]) == (None, [])


async def test_the_published_version_itself_would_change_nothing(service: HttpService) -> None:
    listed = json_of(await service.call("GET", f"{API}/admin/flows", actor=AUTHOR))
    flow_id = cast("Any", listed)["items"][0]["flowId"]
    answer = await service.call("POST", f"{API}/admin/flows/{flow_id}/impact", actor=EDITOR, body={})
    shown = json_of(answer)
    assert (shown["eventsCompared"], shown["different"], shown["examples"]) == (2, 0, [])


async def test_nothing_is_changed_by_looking(service: HttpService) -> None:
    before = {name: copy.copy(getattr(service.store, name).rows) for name in ("requests", "executions")}
    history = copy.copy(service.store.history.rows)
    await impact(service)
    assert {name: getattr(service.store, name).rows for name in before} == before
    assert service.store.history.rows == history


async def test_only_requests_that_the_editor_sees_are_compared(service: HttpService) -> None:
    southern = {"sub": "clerk-9", "roles": ["CLERK"], "business_scopes": ["SOUTH"]}
    theirs = await checked(service, {"found": True, "copies": 1, "shelf": "C"}, key="south", actor=southern)

    for scope, requests in (("NORTH", 2), ("SOUTH", 1), ("WEST", 0)):
        editor = {**EDITOR, "business_scopes": [scope]}
        version = {"NORTH": 3, "SOUTH": 4, "WEST": 5}[scope]
        answer = await impact(service, document=candidate(version=version), actor=editor)
        assert json_of(answer)["requests"] == requests
        assert (theirs in answer.text) is (scope == "SOUTH")

    owner_elsewhere = {**southern, "roles": ["FLOW_EDITOR"], "business_scopes": ["WEST"]}
    answer = await impact(service, document=candidate(version=6), actor=owner_elsewhere)
    assert json_of(answer)["requests"] == 1


@pytest.mark.parametrize("actor", [EDITOR, AUTHOR, AUDITING_EDITOR], ids=lambda each: each["sub"])
async def test_values_are_told_to_an_auditor_only(service: HttpService, actor: Mapping[str, Any]) -> None:
    answer = await impact(service, actor=actor)
    is_auditor = "AUDITOR" in actor["roles"]
    assert (SHELF in answer.text) is is_auditor
    assert ("lookup.copies is 3" in answer.text) is is_auditor
    assert "ladder" not in answer.text


@pytest.mark.parametrize("roles", [["FLOW_EDITOR"], ["FLOW_EDITOR", "AUDITOR"]])
async def test_where_data_is_restricted_neither_values_nor_rules_are_told(
    service: HttpService, roles: list[str]
) -> None:
    document = candidate(restrictedData=[{"path": "/deposit", "allowedRoles": ["KEEPER"]}])
    vary: JsonObject = {"places": [COPIES], "values": [3, 4]}
    answer = await impact(service, {"vary": vary}, document=document, actor={"roles": roles})
    shown: Any = json_of(answer)
    (example,) = shown["examples"]
    assert (shown["different"], shown["rules"], example["trace"]) == (1, None, None)
    assert (example["before"]["rules"], example["after"]["rules"]) == (None, None)
    assert shown["threshold"] is None
    assert "enough" not in answer.text
    keeper = {"roles": [*roles, "KEEPER"]}
    again = await impact(service, document={**document, "version": 3}, actor=keeper)
    assert ("lookup.copies is 3" in again.text) is ("AUDITOR" in roles)
    assert "enough" in again.text


async def test_a_threshold_moves_the_shares(service: HttpService) -> None:
    vary: JsonObject = {"places": [COPIES], "values": [6, 3, 4, 3]}
    shown = json_of(await impact(service, {"vary": vary}))
    assert shown["threshold"] == [
        {"value": 3, "outcomes": {"FOUND": 2}},
        {"value": 4, "outcomes": {"FOUND": 1, "MISSING": 1}},
        {"value": 6, "outcomes": {"MISSING": 2}},
    ]


async def test_the_latest_requests_are_looked_at_first_and_no_more_than_asked_for(
    service: HttpService,
) -> None:
    shown = json_of(await impact(service, {"requestsMax": 1}))
    assert (shown["requests"], shown["different"], shown["stoppedBy"]) == (1, 0, "REQUESTS")


@pytest.mark.parametrize(("looks_before_it_is_up", "compared"), [(0, 0), (1, 1), (2, 2)])
async def test_what_is_found_when_the_time_is_up_is_the_answer(
    service: HttpService, looks_before_it_is_up: int, compared: int
) -> None:
    looks = iter(range(100))
    found = await assessed(service, time_spent=lambda: float(next(looks) >= looks_before_it_is_up))
    assert found.study.tally.compared == compared
    assert found.stopped_by == (Bound.TIME if compared < 2 else None)


@pytest.mark.parametrize(
    ("spent", "compared", "told"),
    [([0, 0, 0.9, 0.9, 0.9], 2, [3, 4, 5]), ([0, 0, 0.9, 1], 2, [3, 4]), ([0, 0.7, 1], 1, [3])],
)
async def test_a_literal_is_moved_in_what_is_left_of_the_time_and_to_one_value_at_least(
    service: HttpService, spent: list[float], compared: int, told: list[int]
) -> None:
    looks = iter(spent)
    found = await assessed(service, values=(5, 3, 4), time_spent=lambda: next(looks))
    assert found.study.tally.compared == compared
    assert [value for value, _ in found.shares] == told
    assert found.stopped_by == (None if len(told) == 3 else Bound.TIME)


class PastOfMany(RecentPast):
    """Has requests that have changed so often, and none any more when it comes to reading them."""

    def __init__(self, *revisions: int) -> None:
        self._found = [
            RecentRequest(id=RequestId(UUID(int=number)), revision=revision)
            for number, revision in enumerate(revisions)
        ]
        self.read: list[int] = []

    async def latest(self, *_: object, **__: object) -> list[RecentRequest]:
        return self._found

    async def runs(self, request_ids: Sequence[RequestId], *_: object) -> list[RecordedRuns]:
        self.read.append(len(request_ids))
        return []


@pytest.mark.parametrize(
    ("revisions", "read"),
    [
        ([], []),
        ([1] * 21, [10, 10, 1]),
        ([400] * 3, [1, 1, 1]),
        ([200, 200, 1, 399, 2], [2, 2, 1]),
    ],
)
async def test_no_more_is_read_at_once_than_the_longest_request_may_have(
    service: HttpService, revisions: list[int], read: list[int]
) -> None:
    past = PastOfMany(*revisions)
    await assessed(service, recent_past=past)
    assert past.read == read


class PastThatIsAway(PastOfMany):
    async def runs(self, *_: object) -> list[RecordedRuns]:
        raise StorageUnavailable("The store did not answer.")


async def test_a_store_that_goes_away_meanwhile_is_told_with_when_to_come_again(service: HttpService) -> None:
    away = evolve(service.services.assess_impact, recent_past=PastThatIsAway(1))
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=candidate())
    path = f"{API}/admin/flows/{text_member(created, 'flowId')}/impact"
    answer = await http_service(assess_impact=away).call("POST", path, actor=EDITOR, body={})
    assert problem_of(answer, 503)["code"] == "STORAGE_UNAVAILABLE"
    assert int(answer.headers["Retry-After"]) > 0


async def test_no_more_events_are_compared_than_the_bound_allows(service: HttpService) -> None:
    found = await assessed(service, events_max=1)
    assert (found.study.tally.compared, found.stopped_by) == (1, Bound.EVENTS)


async def test_everything_that_computes_is_run_by_the_host(service: HttpService) -> None:
    begun: list[str] = []

    async def run_heavy[Result](work: Callable[[], Result], /) -> Result:
        begun.append(cast("Any", work).func.__name__)
        return work()

    await assessed(service, run_heavy=run_heavy)
    assert begun == ["_begun", "add", "told"]


async def assessed(
    service: HttpService,
    *,
    values: tuple[int, ...] = (),
    time_spent: Callable[[], float] = lambda: 0,
    **changes: Any,
) -> ImpactAssessed:
    """Assess a draft by the use case itself."""
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=candidate())
    editor = Actor(
        subject=Subject("editor-1"),
        roles=frozenset({Role("FLOW_EDITOR")}),
        scopes=frozenset({BusinessScope("NORTH")}),
    )
    command = AssessImpactCommand(
        flow_id=FlowId(UUID(text_member(created, "flowId"))),
        places=(Pointer.parse(COPIES),) if values else (),
        values=values,
    )
    return await evolve(service.services.assess_impact, **changes)(command, editor, time_spent=time_spent)


@pytest.mark.parametrize(
    ("prefer", "applied"), [("wait=5", "wait=5"), ("wait=99", "wait=30"), ("wait=x", None), (None, None)]
)
async def test_the_time_may_be_bounded_by_preference(
    service: HttpService, prefer: str | None, applied: str | None
) -> None:
    answer = await impact(service, headers={} if prefer is None else {"Prefer": prefer})
    assert answer.headers.get("Preference-Applied") == applied
    assert json_of(answer)["stoppedBy"] is None


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"requestsMax": 0}, 400, "/requestsMax"),
        ({"requestsMax": 1001}, 400, "/requestsMax"),
        ({"requestsMax": True}, 400, "/requestsMax"),
        ({"since": "yesterday"}, 400, "/since"),
        ({"since": "2026-02-30T00:00:00Z"}, 400, "/since"),
        ({"vary": {"places": [COPIES]}}, 400, "/vary/values"),
        ({"vary": {"places": [], "values": [1]}}, 400, "/vary/places"),
        ({"vary": {"places": [7], "values": [1]}}, 400, "/vary/places/0"),
        ({"vary": {"places": [COPIES], "values": [1, True]}}, 400, "/vary/values/1"),
        ({"vary": {"places": [COPIES], "values": [*range(51)]}}, 400, "/vary/values"),
        ({"vary": {"places": [COPIES, "/version"], "values": [1]}}, 422, "/vary/places/1"),
        ({"other": 1}, 400, "/other"),
    ],
)
async def test_what_can_t_be_taken_names_its_place(
    service: HttpService, body: JsonObject, status: int, pointer: str
) -> None:
    assert problem_of(await impact(service, body), status)["pointer"] == pointer


async def test_a_draft_with_errors_can_t_be_compared(service: HttpService) -> None:
    answer = await impact(service, document=candidate(initialState="GONE"))
    assert problem_of(answer, 422)["code"] == "FLOW_INVALID"


async def test_a_body_is_bounded(service: HttpService) -> None:
    answer = await impact(service, {"since": "x" * 70_000})
    assert problem_of(answer, 413)["code"] == "BODY_TOO_LARGE"
