"""Publication is serialised, its checksum holds for what jsonb gives back, and every act is on record."""

import asyncio
from decimal import Decimal
from typing import cast

from tests.plugins.flow_administration import AUTHOR, TRACE, FlowAdministration, waits_for_a_lock
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.errors import FlowNotDraft, FlowRetired
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.request.acceptance import RevisionIn
from orchestrator_domain.testing.examples import flow_document, lookup_contract, pinned_contract
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

AWKWARD: list[JsonValue] = [
    Decimal("1.10"),
    Decimal("0.10000000000000000555111512312578270211"),
    2**53 + 1,
    2**64 + 1,
    Decimal("1e-30"),
    Decimal("1E+30"),
    Decimal("-0.0"),
    Decimal("-1.5e-7"),
    Decimal(1234567890123456789012345678901234567890),
]


def awkward_document() -> JsonObject:
    """Return a publishable definition whose decision compares with numbers that doubles can't hold."""
    document = flow_document()
    (decision,) = cast("list[JsonObject]", document["decisions"])
    missing: JsonObject = {
        "op": "EQ",
        "left": {"path": "/results/lookup/found"},
        "right": {"literal": False},
    }
    listed: JsonObject = {"op": "IN", "left": {"literal": 0}, "right": {"literal": AWKWARD}}
    rule: JsonObject = {
        "id": "awkward",
        "when": {"op": "AND", "args": [missing, listed]},
        "output": "MISSING",
    }
    rules = [*cast("list[JsonValue]", decision["rules"]), rule]
    return {
        **document,
        "description": 'ñandú \U0001f600 \\ "',
        "decisions": [{**decision, "rules": rules}],
    }


async def test_the_checksum_recomputed_from_what_jsonb_gives_back_is_the_stored_one(
    harness: PostgresHarness,
) -> None:
    office = FlowAdministration.over(harness)
    flow = await office.publish((await office.draft(awkward_document())).id)
    stored = await harness.published_flows().find(flow.id)
    assert stored is not None
    assert stored.document == awkward_document()
    assert sha256_hex(stored.document) == stored.checksum == sha256_hex(awkward_document())
    assert stored.contracts == (pinned_contract(lookup_contract()),)


async def test_an_edited_draft_is_published_as_it_was_edited(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    draft = await office.draft()
    await edited(office, draft.id, awkward_document())
    assert (await office.publish(draft.id)).checksum == sha256_hex(awkward_document())


async def edited(office: FlowAdministration, flow_id: FlowId, document: JsonObject) -> StoredFlow:
    return await office.author.edit(
        flow_id, document, precondition=RevisionIn(tags=("0",)), actor=AUTHOR, correlation_id=TRACE
    )


async def test_of_two_publications_that_meet_one_wins(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    draft = await office.draft()
    held, hold = office.held(repeatable_too=False)
    first = asyncio.create_task(held.publish(draft.id))
    await hold.told.wait()
    second = asyncio.create_task(office.publish(draft.id))
    await waits_for_a_lock(harness)
    hold.go_on.set()
    assert (await first).status is FlowStatus.PUBLISHED
    (refusal,) = await asyncio.gather(second, return_exceptions=True)
    assert isinstance(refusal, FlowNotDraft)
    assert await recorded(harness, draft.id) == ["FLOW_CREATED", "FLOW_PUBLISHED"]


async def test_an_edit_that_meets_a_publication_changes_nothing(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    draft = await office.draft()
    held, hold = office.held(repeatable_too=False)
    publication = asyncio.create_task(held.publish(draft.id))
    await hold.told.wait()
    edit = asyncio.create_task(edited(office, draft.id, awkward_document()))
    await waits_for_a_lock(harness)
    hold.go_on.set()
    published = await publication
    (refusal,) = await asyncio.gather(edit, return_exceptions=True)
    assert isinstance(refusal, FlowNotDraft)
    assert await harness.published_flows().find(draft.id) == published


async def test_a_publication_that_meets_an_edit_publishes_what_was_edited(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    draft = await office.draft()
    held, hold = office.held(repeatable_too=False)
    edit = asyncio.create_task(edited(held, draft.id, awkward_document()))
    await hold.told.wait()
    publication = asyncio.create_task(office.publish(draft.id))
    await waits_for_a_lock(harness)
    hold.go_on.set()
    await edit
    assert (await publication).checksum == sha256_hex(awkward_document())


async def test_every_act_is_recorded_with_actor_checksums_and_correlation_id(
    harness: PostgresHarness,
) -> None:
    office = FlowAdministration.over(harness)
    draft = await office.draft()
    await edited(office, draft.id, awkward_document())
    flow = await office.publish(draft.id)
    await office.activate_first(flow.id)
    await office.switch(enabled=False)
    await office.switch(enabled=True)
    await office.retire(flow.id)
    rows = await harness.rows(b"SELECT * FROM orchestrator.admin_audit ORDER BY id")
    first, last = sha256_hex(flow_document()), sha256_hex(awkward_document())
    told = [
        (row["action"], row["checksum"], row["detail"].get("checksumBefore"), row["detail"]["checksum"])
        for row in rows
    ]
    assert told == [
        ("FLOW_CREATED", None, None, first),
        ("FLOW_EDITED", None, first, last),
        ("FLOW_PUBLISHED", last, last, last),
        ("FLOW_ACTIVATED", last, None, last),
        ("TYPE_DISABLED", last, None, last),
        ("TYPE_ENABLED", last, None, last),
        ("FLOW_RETIRED", last, last, last),
    ]
    known = {(row["actor_subject"], row["correlation_id"], row["flow_id"]) for row in rows}
    assert known == {(AUTHOR.subject, TRACE, flow.id)}
    assert [row["type_key"] for row in rows] == [None, None, None, *["LENDING"] * 3, None]


async def test_an_act_that_fails_is_not_recorded(harness: PostgresHarness) -> None:
    office = FlowAdministration.over(harness)
    flow = await office.published()
    await office.retire(flow.id)
    before = await recorded(harness, flow.id)
    refusals = await asyncio.gather(
        office.publish(flow.id),
        edited(office, flow.id, awkward_document()),
        office.activate_first(flow.id),
        return_exceptions=True,
    )
    assert [type(refusal) for refusal in refusals] == [FlowNotDraft, FlowNotDraft, FlowRetired]
    await office.retire(flow.id)
    assert await recorded(harness, flow.id) == before


async def test_what_is_active_is_asked_of_the_database_by_every_process_each_time(
    harness: PostgresHarness,
) -> None:
    identifiers = SequentialIdentifiers()
    one, other = (FlowAdministration.over(harness, identifiers) for _ in range(2))
    first, second = await one.published(version=1), await one.published(version=2)
    await one.activate_first(first.id)
    assert (await one.create("a")).flow.id == (await other.create("b")).flow.id == first.id
    await one.activate(second.id)
    assert (await one.create("c")).flow.id == (await other.create("d")).flow.id == second.id
    await other.activate(first.id)
    assert (await one.create("e")).flow.id == (await other.create("f")).flow.id == first.id
    await other.retire(first.id)
    for office in (one, other):
        (refusal,) = await asyncio.gather(office.create("g"), return_exceptions=True)
        assert isinstance(refusal, FlowRetired)


async def recorded(harness: PostgresHarness, flow_id: FlowId) -> list[str]:
    rows = await harness.rows(
        b"SELECT action FROM orchestrator.admin_audit WHERE flow_id = %s ORDER BY id", flow_id
    )
    return [str(row["action"]) for row in rows]
