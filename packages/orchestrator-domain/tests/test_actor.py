"""Who acts, and what may be seen."""

import pytest

from orchestrator_domain.actor import Actor
from orchestrator_domain.identifiers import BusinessScope, Role, Subject

ACTOR = Actor(
    subject=Subject("clerk-1"),
    roles=frozenset({Role("CLERK"), Role("AUDITOR")}),
    scopes=frozenset({BusinessScope("SOUTH"), BusinessScope("NORTH")}),
    attributes={"branch": 7},
)


@pytest.mark.parametrize(
    ("owner", "scope", "visible"),
    [
        ("clerk-1", "EAST", True),
        ("clerk-2", "NORTH", True),
        ("clerk-1", "NORTH", True),
        ("clerk-2", "EAST", False),
    ],
)
def test_a_resource_is_visible_to_its_owner_and_within_its_scope(
    owner: str, scope: str, *, visible: bool
) -> None:
    assert ACTOR.may_see(owner=Subject(owner), scope=BusinessScope(scope)) is visible


@pytest.mark.parametrize(
    ("allowed", "holds"), [({"CLERK"}, True), ({"CLERK", "BOSS"}, True), ({"BOSS"}, False), (set(), False)]
)
def test_one_role_of_those_allowed_is_enough(allowed: set[str], *, holds: bool) -> None:
    assert ACTOR.holds_any(frozenset(Role(role) for role in allowed)) is holds


def test_the_snapshot_is_exact_json_in_a_fixed_order() -> None:
    assert ACTOR.as_context() == {
        "subject": "clerk-1",
        "roles": ["AUDITOR", "CLERK"],
        "scopes": ["NORTH", "SOUTH"],
        "attributes": {"branch": 7},
    }
