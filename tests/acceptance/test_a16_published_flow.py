"""A16 a published flow is edited."""

from uuid import uuid4

import psycopg
import pytest
from tests.acceptance.flows import credito
from tests.plugins.api_user import code_of, exact
from tests.plugins.running_service import RunningService

EDITS = (
    "UPDATE orchestrator.flow_definition SET definition = '{}' WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET definition = jsonb_set(definition, '{title}', '\"x\"') WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET checksum = repeat('0', 64) WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET version = version + 1 WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET flow_key = 'OTRO' WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET schema_version = 2 WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET contracts = '[]' WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET status = 'DRAFT' WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET published_at = clock_timestamp() WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET created_by = 'otra' WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET revision = 0 WHERE id = %s",
    "UPDATE orchestrator.flow_definition SET status = 'RETIRED', contracts = '[]' WHERE id = %s",
    "DELETE FROM orchestrator.flow_definition WHERE id = %s",
)


@pytest.fixture(scope="module")
def flow_id(service_with_worker: RunningService) -> str:
    """A published flow."""
    return service_with_worker.publish({**credito(), "flowKey": f"F-{uuid4().hex}"})


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("role", ["runtime_url", "migration_url", "superuser_url"])
def test_a16_no_role_of_the_database_changes_what_was_published(
    service: RunningService, flow_id: str, role: str, edit: str
) -> None:
    url = getattr(service.database, role)
    before = exact(service.author.call("GET", f"/admin/flows/{flow_id}"))

    with (
        psycopg.connect(url, autocommit=True) as connection,
        pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)),
    ):
        connection.execute(edit, [flow_id])

    assert exact(service.author.call("GET", f"/admin/flows/{flow_id}")) == before


@pytest.mark.parametrize("tag", ["*", '"0"', '"1"'], ids=["any", "stale", "current"])
def test_a16_the_api_neither_edits_publishes_again_nor_replaces_what_was_published(
    service: RunningService, flow_id: str, tag: str
) -> None:
    place = f"/admin/flows/{flow_id}"
    before = exact(service.author.call("GET", place))
    changed = {**before["definition"], "title": "Otra"}

    again = service.author.call("POST", f"{place}/publish", {}, headers={"If-Match": tag})
    edited = service.author.call("PUT", place, changed, headers={"If-Match": tag})
    replaced = service.author.call("POST", "/admin/flows", changed)

    assert code_of(again) == (409, "FLOW_NOT_DRAFT")
    assert code_of(edited) == (409, "FLOW_NOT_DRAFT")
    assert code_of(replaced) == (409, "DUPLICATE_FLOW_VERSION")
    assert exact(service.author.call("GET", place)) == before


def test_a16_a_retired_version_is_not_edited_either(service: RunningService) -> None:
    place = f"/admin/flows/{service.publish({**credito(), 'flowKey': f'F-{uuid4().hex}'})}"
    assert service.author.call("POST", f"{place}/retire").status_code == 200
    before = exact(service.author.call("GET", place))

    edited = service.author.call("PUT", place, before["definition"], headers={"If-Match": "*"})

    assert code_of(edited) == (409, "FLOW_NOT_DRAFT")
    assert exact(service.author.call("GET", place)) == before
