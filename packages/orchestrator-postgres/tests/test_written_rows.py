"""The rows of the set-based statements, which are written by their shape, are the JSON objects that they stand for."""

from collections.abc import Mapping
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.limits import JsonLimits
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.execution.execution import Execution, ExecutionStatus, Fence
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import RequestId, Revision
from orchestrator_domain.ports.event_judgement import AddressedEvent
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_domain.testing.strategies import json_objects
from orchestrator_postgres.accepted_rows import event_row, execution_row
from orchestrator_postgres.fenced_write import Ending, FencedWrite, LinkedDocument, Transitioned
from orchestrator_postgres.history import RequestMove, advance_row
from orchestrator_postgres.retention import Due, erased_row
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_rows import (
    added_row,
    document_row,
    ended_row,
    fence_members,
    fence_row,
    kept_row,
    move_row,
    replaced_row,
    success_row,
)

# What a float can have; what a document can have lies within it.
_LIMITS = JsonLimits(depth_max=200, exponent_max=400)

_IDS = st.uuids()
_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
_WHOLES = st.integers(min_value=-(2**63), max_value=2**63 - 1)
_FENCES = st.builds(Fence, execution_id=_IDS, request_id=_IDS, owner=_TEXTS, token=_WHOLES)
_CHECKPOINTS = st.builds(
    Checkpoint,
    action=_TEXTS,
    status=st.sampled_from(CheckpointStatus),
    attempts=_WHOLES,
    external_key=_TEXTS,
    input_hash=_TEXTS,
    effect=st.sampled_from(Effect),
    uncertain=st.booleans(),
    result=st.none() | json_objects(),
    provider_reference=st.none() | _TEXTS,
    error_code=st.none() | _TEXTS,
)
_CHECKPOINT_WRITES = st.builds(CheckpointWrite, id=_IDS, after=_CHECKPOINTS, before=st.none())
_FACTS = st.builds(
    AuditFact,
    id=_IDS,
    kind=st.sampled_from(AuditKind),
    actor=_TEXTS,
    flow_id=_IDS,
    execution_id=st.none() | _IDS,
    from_state=st.none() | _TEXTS,
    to_state=st.none() | _TEXTS,
    detail=json_objects(),
    salt=_TEXTS,
)
_TRANSITIONED = st.builds(
    Transitioned, state=_TEXTS, data=json_objects(), documents=st.just(()), succeeded=st.just(())
)
_ENDINGS = st.builds(
    Ending,
    status=st.sampled_from(ExecutionStatus),
    fact=_FACTS,
    error_code=st.none() | _TEXTS,
    result=st.none() | json_objects(),
    delay_seconds=st.none()
    | st.integers(min_value=0, max_value=10**9)
    | st.floats(allow_nan=False, allow_infinity=False),
    transitioned=st.none() | _TRANSITIONED,
)
_WRITES = st.builds(
    FencedWrite,
    fence=_FENCES,
    checkpoints=st.lists(_CHECKPOINT_WRITES, max_size=2).map(tuple),
    ending=_ENDINGS,
)
_LINKS = st.builds(
    DocumentLink,
    document_type=_TEXTS,
    storage_document_id=_TEXTS,
    mime_type=_TEXTS,
    size_bytes=_WHOLES,
    checksum=_TEXTS,
)
_DOCUMENTS = st.builds(LinkedDocument, id=_IDS, link=_LINKS)
_ACTORS = st.builds(
    Actor,
    subject=_TEXTS,
    roles=st.frozensets(_TEXTS, max_size=3),
    scopes=st.frozensets(_TEXTS, max_size=3),
    attributes=json_objects(),
)
_EXECUTIONS = st.builds(
    Execution,
    id=_IDS,
    request_id=_IDS,
    idempotency_key=_TEXTS,
    payload_hash=_TEXTS,
    actor=_ACTORS,
    event=_TEXTS,
    event_data=json_objects(),
    transition=_TEXTS,
    from_state=_TEXTS,
    accepted_revision=_WHOLES,
    status=st.sampled_from(ExecutionStatus),
    correlation_id=st.none() | _TEXTS,
    trace_parent=st.none() | _TEXTS,
)


def _reads(row: str, expected: Mapping[str, object]) -> None:
    """Hold the row against what it stands for, kinds and all digits of numbers included; no member occurs twice."""
    read = parse_json(str(rows_parameter([row, row])["rows"]), limits=_LIMITS)
    assert isinstance(read, list)
    assert [canonical_json(one) for one in read] == [canonical_json(dict(expected))] * 2  # type: ignore[arg-type]


def _fence(fence: Fence) -> JsonObject:
    return {
        "execution_id": fence.execution_id.hex,
        "request_id": fence.request_id.hex,
        "owner": fence.owner,
        "token": fence.token,
    }


def _checkpoint(checkpoint: Checkpoint) -> JsonObject:
    return {
        "action": checkpoint.action,
        "status": checkpoint.status.value,
        "attempts": checkpoint.attempts,
        "external_key": checkpoint.external_key,
        "input_hash": checkpoint.input_hash,
        "effect": checkpoint.effect.value,
        "uncertain": checkpoint.uncertain,
        "result": checkpoint.result,
        "provider_reference": checkpoint.provider_reference,
        "error_code": checkpoint.error_code,
        "finished": checkpoint.status.value in {"SUCCEEDED", "FAILED", "UNKNOWN"},
    }


def _move(request_id: RequestId, fact: AuditFact, move: RequestMove) -> JsonObject:
    return {
        "request_id": request_id.hex,
        "from_revision": move.from_revision,
        "revision_step": move.revision_step,
        "to_state": move.to_state,
        "data": move.data,
        "entry_id": fact.id.hex,
        "execution_id": None if fact.execution_id is None else fact.execution_id.hex,
        "kind": fact.kind.value,
        "actor": fact.actor,
        "flow_id": fact.flow_id.hex,
        "fact_from_state": fact.from_state,
        "fact_to_state": fact.to_state,
        "detail": fact.detail,
        "salt": fact.salt,
        "detail_hash": fact.detail_hash(),
        "content_hash": fact.content_hash(request_id),
    }


@given(_FENCES)
def test_the_row_of_a_fence_reads_as_the_fence(fence: Fence) -> None:
    _reads(fence_row(fence), _fence(fence))


@given(_FENCES, _CHECKPOINT_WRITES)
def test_the_row_of_a_new_checkpoint_reads_as_the_checkpoint(fence: Fence, write: CheckpointWrite) -> None:
    row = added_row(fence_members(fence), write)
    _reads(row, {**_fence(fence), "id": write.id.hex, **_checkpoint(write.after)})


@given(_FENCES, _CHECKPOINT_WRITES, st.sampled_from(CheckpointStatus), _WHOLES)
def test_the_row_of_a_replaced_checkpoint_also_tells_what_it_replaces(
    fence: Fence, write: CheckpointWrite, status: CheckpointStatus, attempts: int
) -> None:
    row = replaced_row(fence_members(fence), write, (status, attempts))
    before = {"before_status": status.value, "before_attempts": attempts}
    _reads(row, {**_fence(fence), **_checkpoint(write.after), **before})


@given(_FENCES, _CHECKPOINTS)
def test_the_row_of_an_expected_success_reads_as_what_is_compared(fence: Fence, expected: Checkpoint) -> None:
    compared = ("action", "external_key", "input_hash", "effect")
    whole = _checkpoint(expected)
    row = {"execution_id": fence.execution_id.hex, **{name: whole[name] for name in compared}}
    _reads(success_row(fence, expected), row)


@given(_FENCES, _ENDINGS, st.none() | _WHOLES.map(Revision))
def test_the_row_of_a_move_reads_as_its_fact_and_where_the_request_goes(
    fence: Fence, ending: Ending, from_revision: Revision | None
) -> None:
    to = ending.transitioned
    move = RequestMove(
        from_revision=from_revision,
        revision_step=0 if ending.status.active else 1,
        to_state=None if to is None else to.state,
        data=None if to is None else to.data,
    )
    expected = _move(fence.request_id, ending.fact, move)
    _reads(move_row(fence, ending, from_revision=from_revision), expected)
    _reads(advance_row(fence.request_id, ending.fact, move), expected)


@given(_FENCES, _DOCUMENTS)
def test_the_row_of_a_document_reads_as_its_link(fence: Fence, document: LinkedDocument) -> None:
    link = document.link
    row: JsonObject = {
        "id": document.id.hex,
        "execution_id": fence.execution_id.hex,
        "request_id": fence.request_id.hex,
        "document_type": link.document_type,
        "storage_document_id": link.storage_document_id,
        "mime_type": link.mime_type,
        "size_bytes": link.size_bytes,
        "checksum": link.checksum,
    }
    _reads(document_row(fence, document), row)


@given(_WRITES, _ENDINGS)
def test_the_row_of_what_goes_on_and_of_what_ends_reads_as_it_is_given_back(
    write: FencedWrite, ending: Ending
) -> None:
    kept: JsonObject = {**_fence(write.fence), "progressed": len(write.checkpoints) > 0}
    delay = ending.delay_seconds
    ended: JsonObject = {
        "status": ending.status.value,
        "result": ending.result,
        "error_code": ending.error_code,
        "delay_seconds": None if delay is None else Decimal(repr(float(delay))),
    }
    fence = fence_members(write.fence)
    _reads(kept_row(fence, write), kept)
    _reads(ended_row(fence, write, ending), {**kept, **ended})


@given(_EXECUTIONS)
def test_the_row_of_an_accepted_event_reads_as_its_execution(execution: Execution) -> None:
    snapshot = execution.actor.as_context()
    if execution.trace_parent is not None:
        snapshot["traceParent"] = execution.trace_parent
    row: JsonObject = {
        "id": execution.id.hex,
        "request_id": execution.request_id.hex,
        "idempotency_key": execution.idempotency_key,
        "payload_hash": execution.payload_hash,
        "actor_subject": execution.actor.subject,
        "actor_snapshot": snapshot,
        "event_key": execution.event,
        "event_data": execution.event_data,
        "transition_id": execution.transition,
        "from_state": execution.from_state,
        "accepted_revision": execution.accepted_revision,
        "correlation_id": execution.correlation_id,
        "status": execution.status.value,
    }
    _reads(execution_row(execution), row)


@given(st.builds(AddressedEvent, request_id=_IDS, actor=_ACTORS, key=_TEXTS))
def test_the_row_of_an_event_reads_as_whom_it_is_from_and_for(event: AddressedEvent) -> None:
    row: JsonObject = {
        "request_id": event.request_id.hex,
        "subject": event.actor.subject,
        "scopes": [*sorted(event.actor.scopes)],
        "key": event.key,
    }
    _reads(event_row(event), row)


@given(st.builds(Due, id=_IDS, flow_id=_IDS, revision=_WHOLES, erased=st.just(frozenset())), _FACTS)
def test_the_row_of_an_erasure_reads_as_its_fact(due: Due, fact: AuditFact) -> None:
    moved = _move(due.id, fact, RequestMove(from_revision=None))
    told = ("entry_id", "actor", "detail", "salt", "detail_hash", "content_hash")
    row = {"id": due.id.hex, "revision": due.revision, **{name: moved[name] for name in told}}
    _reads(erased_row(due, fact), row)
