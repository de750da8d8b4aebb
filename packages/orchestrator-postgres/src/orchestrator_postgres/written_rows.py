"""Writes as the rows of the set-based statements, which take each set as one JSON array."""

from decimal import Decimal

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_postgres.fenced_write import Ending, FencedWrite, LinkedDocument
from orchestrator_postgres.history import RequestMove, advance_row
from orchestrator_postgres.stored_json import id_text

_FINISHED = frozenset({CheckpointStatus.SUCCEEDED, CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN})


def fence_row(fence: Fence) -> JsonObject:
    return {
        "execution_id": id_text(fence.execution_id),
        "request_id": id_text(fence.request_id),
        "owner": fence.owner,
        "token": fence.token,
    }


def checkpoint_row(fence: Fence, write: CheckpointWrite) -> JsonObject:
    row: JsonObject = {**fence_row(fence), "id": id_text(write.id), **_checkpoint_values(write.after)}
    if write.before is not None:
        status, attempts = write.before
        row |= {"before_status": status.value, "before_attempts": attempts}
    return row


def success_row(fence: Fence, expected: Checkpoint) -> JsonObject:
    return {
        "execution_id": id_text(fence.execution_id),
        "action": expected.action,
        "external_key": expected.external_key,
        "input_hash": expected.input_hash,
        "effect": expected.effect.value,
    }


def move_row(fence: Fence, ending: Ending, *, from_revision: Revision | None) -> JsonObject:
    transitioned = ending.transitioned
    move = RequestMove(
        from_revision=from_revision,
        revision_step=ending.revision_step,
        to_state=None if transitioned is None else transitioned.state,
        data=None if transitioned is None else transitioned.data,
    )
    return advance_row(fence.request_id, ending.fact, move)


def document_row(fence: Fence, document: LinkedDocument) -> JsonObject:
    link = document.link
    return {
        "id": id_text(document.id),
        "execution_id": id_text(fence.execution_id),
        "request_id": id_text(fence.request_id),
        "document_type": link.document_type,
        "storage_document_id": link.storage_document_id,
        "mime_type": link.mime_type,
        "size_bytes": link.size_bytes,
        "checksum": link.checksum,
    }


def kept_row(write: FencedWrite) -> JsonObject:
    return {**fence_row(write.fence), "progressed": bool(write.checkpoints)}


def ended_row(write: FencedWrite, ending: Ending) -> JsonObject:
    delay = ending.delay_seconds
    return {
        **kept_row(write),
        "status": ending.status.value,
        "result": ending.result,
        "error_code": ending.error_code,
        "delay_seconds": None if delay is None else Decimal(repr(float(delay))),
    }


def _checkpoint_values(checkpoint: Checkpoint) -> JsonObject:
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
        "finished": checkpoint.status in _FINISHED,
    }
