"""The chain that proves a request's history, and every way to tamper with it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from itertools import permutations

import pytest
from attrs import evolve
from hypothesis import given

from orchestrator_domain.audit import (
    GENESIS_HEAD,
    AuditEntry,
    AuditFact,
    AuditKind,
    chain_time,
    detail_hash,
    link,
    verify_chain,
)
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import (
    AuditEntryId,
    ExecutionId,
    FlowId,
    RequestId,
    Sha256Hex,
    StateKey,
    Subject,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.testing.strategies import json_objects

IDENTIFIERS = SequentialIdentifiers()
REQUEST = RequestId(IDENTIFIERS.uuid())
FLOW = FlowId(IDENTIFIERS.uuid())
EXECUTION = ExecutionId(IDENTIFIERS.uuid())
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ANOTHER = IDENTIFIERS.uuid()


def chain(*details: JsonObject) -> list[AuditEntry]:
    """Return a history of one entry for each detail, a second apart."""
    entries: list[AuditEntry] = []
    for detail in details:
        entries.append(appended(entries, fact(detail)))
    return entries


def fact(detail: JsonObject) -> AuditFact:
    return AuditFact(
        id=AuditEntryId(IDENTIFIERS.uuid()),
        kind=AuditKind.EVENT_ACCEPTED,
        actor=Subject("clerk-1"),
        flow_id=FLOW,
        execution_id=EXECUTION,
        from_state=StateKey("OPEN"),
        detail=detail,
        salt=IDENTIFIERS.salt(),
    )


def appended(entries: list[AuditEntry], fact: AuditFact) -> AuditEntry:
    sequence = len(entries) + 1
    moment = NOON + timedelta(seconds=sequence)
    head = entries[-1].head if entries else GENESIS_HEAD
    content = fact.content_hash(REQUEST)
    return AuditEntry(
        id=fact.id,
        request_id=REQUEST,
        sequence=sequence,
        kind=fact.kind,
        actor=fact.actor,
        flow_id=fact.flow_id,
        execution_id=fact.execution_id,
        from_state=fact.from_state,
        to_state=fact.to_state,
        detail=fact.detail,
        salt=fact.salt,
        detail_hash=fact.detail_hash(),
        head=link(head=head, sequence=sequence, created_at=moment, content=content),
        created_at=moment,
    )


HISTORY = chain({"event": "A"}, {"event": "B"}, {"event": "C"})


@given(first=json_objects(), second=json_objects())
def test_a_history_that_nobody_touched_verifies(first: JsonObject, second: JsonObject) -> None:
    entries = chain(first, second, first)
    assert verify_chain(entries, stored_head=entries[-1].head) is None


def test_an_empty_history_verifies_from_the_genesis_head() -> None:
    assert verify_chain([], stored_head=GENESIS_HEAD) is None


type Tampering = Callable[[AuditEntry], AuditEntry]

TAMPERINGS: dict[str, Tampering] = {
    "id": lambda entry: evolve(entry, id=AuditEntryId(ANOTHER)),
    "request": lambda entry: evolve(entry, request_id=RequestId(ANOTHER)),
    "kind": lambda entry: evolve(entry, kind=AuditKind.EXECUTION_FAILED),
    "actor": lambda entry: evolve(entry, actor=Subject("clerk-2")),
    "flow": lambda entry: evolve(entry, flow_id=FlowId(ANOTHER)),
    "execution": lambda entry: evolve(entry, execution_id=ExecutionId(ANOTHER)),
    "no execution": lambda entry: evolve(entry, execution_id=None),
    "from state": lambda entry: evolve(entry, from_state=StateKey("LENT")),
    "to state": lambda entry: evolve(entry, to_state=StateKey("LENT")),
    "states swapped": lambda entry: evolve(entry, from_state=entry.to_state, to_state=entry.from_state),
    "detail": lambda entry: evolve(entry, detail={"event": "other"}),
    "salt": lambda entry: evolve(entry, salt="0" * 32),
    "detail erased alone": lambda entry: evolve(entry, detail=None),
    "salt erased alone": lambda entry: evolve(entry, salt=None),
    "detail with its hash": lambda entry: evolve(
        entry, detail={}, detail_hash=detail_hash(entry.salt or "", {})
    ),
    "time": lambda entry: evolve(entry, created_at=entry.created_at + timedelta(microseconds=1)),
    "head": lambda entry: evolve(entry, head=Sha256Hex("f" * 64)),
    "sequence": lambda entry: evolve(entry, sequence=entry.sequence + 1),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
@pytest.mark.parametrize("place", range(len(HISTORY)))
def test_a_changed_entry_is_found_where_it_is(tampering: str, place: int) -> None:
    entries = list(HISTORY)
    entries[place] = TAMPERINGS[tampering](entries[place])
    broken = verify_chain(entries)
    assert broken is not None
    assert broken.sequence == entries[place].sequence


@pytest.mark.parametrize("order", [order for order in permutations(range(3)) if order != (0, 1, 2)])
def test_another_order_is_found(order: tuple[int, ...]) -> None:
    assert verify_chain([HISTORY[place] for place in order]) is not None


@pytest.mark.parametrize("order", [order for order in permutations(range(3)) if order != (0, 1, 2)])
def test_another_order_with_new_numbers_is_found(order: tuple[int, ...]) -> None:
    renumbered = [evolve(HISTORY[place], sequence=number) for number, place in enumerate(order, start=1)]
    assert verify_chain(renumbered) is not None


@pytest.mark.parametrize("missing", range(len(HISTORY)))
def test_a_missing_entry_is_found(missing: int) -> None:
    rest = [entry for place, entry in enumerate(HISTORY) if place != missing]
    broken = verify_chain(rest, stored_head=HISTORY[-1].head)
    assert broken is not None
    assert broken.sequence == (missing + 2 if missing < len(HISTORY) - 1 else missing + 1)


def test_a_missing_entry_whose_followers_were_renumbered_is_found() -> None:
    renumbered = [HISTORY[0], evolve(HISTORY[2], sequence=2)]
    assert verify_chain(renumbered) is not None


def test_an_end_that_was_cut_off_is_found_by_the_head_that_the_request_keeps() -> None:
    assert verify_chain(HISTORY[:2]) is None
    broken = verify_chain(HISTORY[:2], stored_head=HISTORY[-1].head)
    assert broken is not None
    assert broken.sequence == 3


def test_a_repeated_entry_is_found() -> None:
    assert verify_chain([*HISTORY, HISTORY[-1]]) is not None


def test_a_change_that_recomputes_its_own_link_breaks_the_next_one() -> None:
    forged = appended(HISTORY[:1], fact({"event": "forged"}))
    broken = verify_chain([HISTORY[0], forged, HISTORY[2]])
    assert broken is not None
    assert broken.sequence == 3


def test_erasing_detail_and_salt_leaves_the_proof_whole() -> None:
    erased = [evolve(entry, detail=None, salt=None) for entry in HISTORY]
    assert verify_chain(erased, stored_head=HISTORY[-1].head) is None


def test_an_erased_entry_still_proves_everything_but_its_detail() -> None:
    erased = [evolve(HISTORY[0], detail=None, salt=None, actor=Subject("clerk-2")), *HISTORY[1:]]
    assert verify_chain(erased) is not None


def test_a_salt_hides_which_detail_was_erased() -> None:
    assert detail_hash("0" * 32, {"event": "A"}) != detail_hash("1" * 32, {"event": "A"})


def test_a_link_is_the_digest_of_four_documented_lines() -> None:
    """Written out, since the store's own SQL and any auditor have to come to the same digest."""
    text = "\n".join(["0" * 64, "7", "2030-01-01T12:00:00.000000Z", "c" * 64])
    linked = link(head=GENESIS_HEAD, sequence=7, created_at=NOON, content=Sha256Hex("c" * 64))
    assert linked == sha256(text.encode()).hexdigest()


def test_a_detail_is_hashed_after_its_salt_and_a_line_break() -> None:
    assert detail_hash("5a17", {"b": 1, "a": []}) == sha256(b'5a17\n{"a":[],"b":1}').hexdigest()


def test_a_moment_is_hashed_alike_in_every_time_zone() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-6)))
    assert chain_time(elsewhere) == chain_time(NOON) == "2030-01-01T12:00:00.000000Z"
