"""What the values of a row may be, and what makes no row and no parameter."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import InexactJson
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import (
    AuditEntryId,
    ExecutionId,
    FencingToken,
    FlowId,
    LeaseOwner,
    RequestId,
    Subject,
)
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.fenced_write import Ending, FencedWrite
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_rows import added_row, ended_row, fence_members, fence_row
from orchestrator_postgres.written_values import text

SOME_ID = UUID(int=7)
FENCE = Fence(
    execution_id=ExecutionId(SOME_ID),
    request_id=RequestId(SOME_ID),
    owner=LeaseOwner("worker-1"),
    token=FencingToken(1),
)
UNSTORABLE = ["\0", "a\0b", "\\\0", "\ud800", "a\udfffé"]


class _Odd(StrEnum):
    SUBCLASS = "SUBCLASS"


def _added(checkpoint: Checkpoint) -> str:
    return added_row(fence_members(FENCE), write_of(checkpoint, SequentialIdentifiers()))


def _changed(changes: Mapping[str, Any]) -> Checkpoint:
    return evolve(checkpoint_of(FENCE.execution_id), **changes)


@given(st.text(st.characters()))
@example("\\u0000")
@example("\\\\u0000\0")
@example('"\\\x1f')
def test_every_text_is_read_back_or_makes_no_parameter(value: str) -> None:
    storable = "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    try:
        written = rows_parameter([text(value), text(value)])["rows"]
    except InexactJson:
        assert not storable
    else:
        assert storable
        assert parse_json(str(written)) == [value, value]


@pytest.mark.parametrize("value", UNSTORABLE, ids=ascii)
@pytest.mark.parametrize(
    "member", ["action", "external_key", "input_hash", "provider_reference", "error_code"]
)
def test_what_no_text_column_can_hold_makes_no_parameter(member: str, value: str) -> None:
    with pytest.raises(InexactJson):
        rows_parameter([_added(_changed({member: value}))])


@pytest.mark.parametrize("value", UNSTORABLE, ids=ascii)
def test_neither_does_it_in_a_document_or_in_a_fence(value: str) -> None:
    for result in ({"name": [value]}, {value: 1}):
        with pytest.raises(InexactJson):
            rows_parameter([_added(_changed({"result": result}))])
    with pytest.raises(InexactJson):
        rows_parameter([fence_row(FENCE), fence_row(evolve(FENCE, owner=LeaseOwner(value)))])


@pytest.mark.parametrize(
    "changes",
    [
        {"attempts": 1.0},
        {"attempts": True},
        {"attempts": Decimal(1)},
        {"attempts": "1"},
        {"uncertain": 1},
        {"uncertain": None},
        {"action": 1},
        {"action": None},
        {"action": _Odd.SUBCLASS},
        {"error_code": b"bytes"},
        {"error_code": _Odd.SUBCLASS},
        {"result": {"rate": 1.5}},
        {"result": {"rate": Decimal("NaN")}},
        {"result": {"pair": (1, 2)}},
        {"result": {1: 2}},
        {"result": {"code": _Odd.SUBCLASS}},
    ],
    ids=repr,
)
def test_what_is_of_another_kind_than_its_column_is_not_written(changes: Mapping[str, Any]) -> None:
    with pytest.raises(InexactJson):
        _added(_changed(changes))


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), float("-inf")])
def test_a_delay_that_is_no_number_is_not_written(seconds: float) -> None:
    fact = AuditFact(
        id=AuditEntryId(SOME_ID),
        kind=AuditKind.ACTION_RETRY_SCHEDULED,
        actor=Subject("clerk-1"),
        flow_id=FlowId(SOME_ID),
        salt="",
    )
    ending = Ending(status=ExecutionStatus.RETRY_WAIT, fact=fact, delay_seconds=seconds)
    write = FencedWrite(fence=FENCE, checkpoints=(), ending=ending)
    with pytest.raises(InexactJson):
        ended_row(fence_members(FENCE), write, ending)
