"""Whatever stands in an event's way is told, and what can't be judged without the event is not judged."""

import pytest

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.request.standing import Obstacle, event_standings
from orchestrator_domain.testing.examples import draft_flow, flow_document, published, request_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

IDENTIFIERS = SequentialIdentifiers()
REQUEST = request_of(published(draft_flow(IDENTIFIERS)), IDENTIFIERS)


def guarded(guard: JsonObject) -> ReadyFlow:
    document = flow_document()
    transitions = document["transitions"]
    assert isinstance(transitions, list)
    check, withdraw = transitions
    assert isinstance(check, dict)
    return ReadyFlow(definition=read_flow({**document, "transitions": [{**check, "guard": guard}, withdraw]}))


@pytest.mark.parametrize(
    ("guard", "obstacles"),
    [
        ({"op": "EXISTS", "arg": {"path": "/request/data/item"}}, ()),
        ({"op": "EXISTS", "arg": {"path": "/request/data/lent"}}, (Obstacle.GUARD_NOT_SATISFIED,)),
        (
            {"op": "GT", "left": {"path": "/request/data/lent"}, "right": {"literal": 1}},
            (Obstacle.EVALUATION_ERROR,),
        ),
        ({"op": "EXISTS", "arg": {"path": "/event/data/note"}}, (Obstacle.GUARD_DEPENDS,)),
        (
            {"op": "NOT", "arg": {"op": "EXISTS", "arg": {"path": "/actor/subject"}}},
            (Obstacle.GUARD_DEPENDS,),
        ),
    ],
)
def test_a_guard_is_judged_as_far_as_the_request_alone_decides_it(
    guard: JsonObject, obstacles: tuple[Obstacle, ...]
) -> None:
    check, _ = event_standings(REQUEST, guarded(guard), active=None)
    assert check.obstacles == obstacles
    assert check.is_taken is (not obstacles or obstacles == (Obstacle.GUARD_DEPENDS,))
