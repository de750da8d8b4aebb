"""What is stored comes back exactly, and the tables are those that the migrations make."""

from decimal import Decimal

import pytest
from attrs import evolve
from tests.plugins.migrated_database import LOGINS
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.audit import AuditEntry, AuditKind, ChainBreak, verify_chain
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.identifiers import Sha256Hex, StateKey
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.core_statements.tables import METADATA
from orchestrator_postgres.stored_json import Unreadable, load_stored

EXACT: list[JsonValue] = [
    Decimal("1.10"),
    2**64 + 1,
    Decimal("1e-30"),
    Decimal("1E+100"),
    Decimal("-0.0"),
    Decimal(1234567890123456789012345678901234567890),
    Decimal("0.1234567890123456789012345678901234567890"),
    0,
    True,
    None,
    'ñandú \U0001f600 \\ " \t',
    [[], {}, [None, False]],
    {"b": 1, "a": {"ä": Decimal("1.0")}},
]


async def _completed(harness: PostgresHarness, data: JsonObject) -> Request:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    fact = evolve(
        cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id), detail=data
    )
    completion = Completion(state=StateKey("LENT"), data=data, result=data)
    await harness.queue().complete(claimed.fence, completion, writes=[], succeeded=[], fact=fact)
    return (await cases.seen(claimed.request.id)).request


@pytest.mark.parametrize("value", EXACT, ids=repr)
async def test_a_value_comes_back_exactly_and_hashes_alike(
    harness: PostgresHarness, value: JsonValue
) -> None:
    document: JsonObject = {"value": value}
    stored = (await _completed(harness, document)).data
    assert stored == document
    assert sha256_hex(stored) == sha256_hex(document)


async def test_a_number_keeps_its_trailing_zeros(harness: PostgresHarness) -> None:
    stored = (await _completed(harness, {"rate": Decimal("1.10")})).data["rate"]
    assert isinstance(stored, Decimal)
    assert str(stored) == "1.10"


async def test_documents_nested_as_deep_as_allowed_are_read_inside_others(harness: PostgresHarness) -> None:
    nested: JsonValue = 1
    for _ in range(64):
        nested = [nested]
    assert (await _completed(harness, {"value": nested})).data == {"value": nested}


def test_a_document_beyond_every_limit_is_marked_and_not_raised() -> None:
    assert load_stored(b"[" * 500 + b"]" * 500) is Unreadable.UNREADABLE


async def test_a_detail_with_exact_numbers_is_proven_by_its_hash(harness: PostgresHarness) -> None:
    request = await _completed(harness, {"values": EXACT})
    assert verify_chain(await harness.history(request.id)) is None


async def test_times_are_stored_with_all_their_microseconds(harness: PostgresHarness) -> None:
    request = await StoredCases(harness=harness).request()
    (entry,) = await harness.history(request.id)
    (row,) = await harness.rows(
        b"SELECT to_char(created_at AT TIME ZONE 'UTC', 'US') AS us FROM orchestrator.audit_entry"
    )
    assert f"{entry.created_at.microsecond:06d}" == row["us"]
    assert str(entry.created_at.tzinfo) == "UTC"


@pytest.mark.parametrize(
    "change",
    [
        'detail = \'{"transitionId": "other"}\'',
        "kind = 'EXECUTION_FAILED'",
        "actor_subject = 'somebody'",
        "from_state = 'ELSEWHERE'",
        "to_state = 'ELSEWHERE'",
        "execution_id = NULL",
        "created_at = created_at + interval '1 microsecond'",
        "head = repeat('b', 64)",
        "detail_hash = repeat('b', 64)",
        "salt = 'other'",
    ],
)
async def test_a_stored_entry_that_was_tampered_with_breaks_the_chain(
    harness: PostgresHarness, change: str
) -> None:
    cases = StoredCases(harness=harness)
    execution = await cases.accepted()
    await _past_the_guards(harness, f"UPDATE orchestrator.audit_entry SET {change} WHERE sequence = 2")
    broken = verify_chain(await harness.history(execution.request_id))
    assert broken is not None
    assert broken.sequence == 2


async def test_a_stored_entry_that_was_taken_out_breaks_the_chain(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    execution = await cases.accepted()
    await _past_the_guards(harness, "DELETE FROM orchestrator.audit_entry WHERE sequence = 1")
    assert isinstance(verify_chain(await harness.history(execution.request_id)), ChainBreak)


async def test_the_request_keeps_the_head_of_its_chain(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    execution = await cases.accepted()
    last: AuditEntry = list(await harness.history(execution.request_id))[-1]
    (row,) = await harness.rows(
        b"SELECT audit_sequence, audit_head FROM orchestrator.request_instance WHERE id = %s",
        execution.request_id,
    )
    assert (row["audit_sequence"], row["audit_head"]) == (last.sequence, last.head)


async def test_the_chain_stays_whole_when_personal_data_is_erased(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    execution = await cases.accepted()
    await _past_the_guards(harness, "UPDATE orchestrator.audit_entry SET detail = NULL, salt = NULL")
    history = await harness.history(execution.request_id)
    assert all(entry.detail is None for entry in history)
    assert verify_chain(history) is None


async def test_initial_data_stays_when_the_data_moves_on(harness: PostgresHarness) -> None:
    await _completed(harness, {"item": "saw"})
    (row,) = await harness.rows(b"SELECT data, initial_data FROM orchestrator.request_instance")
    assert (row["data"], row["initial_data"]) == (
        {"item": "saw"},
        {"item": "ladder", "deposit": Decimal("12.50")},
    )


async def test_the_checksum_of_a_published_flow_is_that_of_its_stored_document(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    flow = await cases.published_flow()
    stored = await harness.published_flows().find(flow.id)
    assert stored is not None
    assert stored.checksum == Sha256Hex(sha256_hex(stored.document))


async def test_administrative_acts_hold_the_checksum_of_their_flow(harness: PostgresHarness) -> None:
    flow = await StoredCases(harness=harness).published_flow()
    rows = await harness.rows(b"SELECT action, checksum FROM orchestrator.admin_audit ORDER BY id")
    assert [(row["action"], row["checksum"]) for row in rows] == [
        ("FLOW_CREATED", None),
        ("FLOW_PUBLISHED", flow.checksum),
    ]


@pytest.mark.parametrize("table", sorted(METADATA.tables))
async def test_a_table_has_the_columns_that_statements_are_built_on(
    harness: PostgresHarness, table: str
) -> None:
    rows = await harness.rows(
        b"SELECT column_name, is_nullable = 'YES' AS nullable FROM information_schema.columns"
        b" WHERE table_schema || '.' || table_name = %s ORDER BY ordinal_position",
        table,
    )
    stored = {str(row["column_name"]): bool(row["nullable"]) for row in rows}
    assert {column.name: bool(column.nullable) for column in METADATA.tables[table].columns} == stored


async def _past_the_guards(harness: PostgresHarness, statement: str) -> None:
    """Run a statement as a superuser who switches the guards off, as nobody else can."""
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"SET LOCAL session_replication_role = replica")
        await harness.superuser.execute(statement.encode())


@pytest.mark.parametrize("said_by", ["role", "environment"])
async def test_text_is_stored_as_it_is_whatever_encoding_others_would_have(
    harness: PostgresHarness, monkeypatch: pytest.MonkeyPatch, said_by: str
) -> None:
    if said_by == "role":
        harness.database.execute(
            f"ALTER ROLE {LOGINS.runtime.name} IN DATABASE {harness.database.name} SET client_encoding = 'LATIN1'"
        )
    else:
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    data: JsonObject = {"name": "Zoë Ñandú"}
    stored = await _completed(harness, data)
    assert stored.data == data
    history = await harness.history(stored.id)
    assert history[-1].detail == data
    assert verify_chain(history) is None
