"""Writes as the rows of the set-based statements, which take each set as one JSON array."""

from typing import Final

from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_postgres.fenced_write import Ending, FencedWrite, LinkedDocument
from orchestrator_postgres.history import RequestMove, advance_row
from orchestrator_postgres.written_values import (
    choice,
    document_or_null,
    seconds_or_null,
    text,
    text_or_null,
    truth,
    uuid,
    whole,
)

_FINISHED: Final = frozenset({CheckpointStatus.SUCCEEDED, CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN})


def fence_row(fence: Fence) -> str:
    return f"{{{fence_members(fence)}}}"


def fence_members(fence: Fence) -> str:
    """Return what the rows of a write begin with, to be written once for all of them."""
    return (
        f'"execution_id":{uuid(fence.execution_id)}'
        f',"request_id":{uuid(fence.request_id)}'
        f',"owner":{text(fence.owner)}'
        f',"token":{whole(fence.token)}'
    )


def added_row(fence: str, write: CheckpointWrite) -> str:
    return f'{{{fence},"id":{uuid(write.id)},{_checkpoint_members(write.after)}}}'


def replaced_row(fence: str, write: CheckpointWrite, before: tuple[CheckpointStatus, int]) -> str:
    status, attempts = before
    return (
        f"{{{fence}"
        f",{_checkpoint_members(write.after)}"
        f',"before_status":{choice(status)}'
        f',"before_attempts":{whole(attempts)}'
        "}"
    )


def success_row(fence: Fence, expected: Checkpoint) -> str:
    return (
        f'{{"execution_id":{uuid(fence.execution_id)}'
        f',"action":{text(expected.action)}'
        f',"external_key":{text(expected.external_key)}'
        f',"input_hash":{text(expected.input_hash)}'
        f',"effect":{choice(expected.effect)}'
        "}"
    )


def move_row(fence: Fence, ending: Ending, *, from_revision: Revision | None) -> str:
    transitioned = ending.transitioned
    move = RequestMove(
        from_revision=from_revision,
        revision_step=ending.revision_step,
        to_state=None if transitioned is None else transitioned.state,
        data=None if transitioned is None else transitioned.data,
    )
    return advance_row(fence.request_id, ending.fact, move)


def document_row(fence: Fence, document: LinkedDocument) -> str:
    link = document.link
    return (
        f'{{"execution_id":{uuid(fence.execution_id)}'
        f',"request_id":{uuid(fence.request_id)}'
        f',"id":{uuid(document.id)}'
        f',"document_type":{text(link.document_type)}'
        f',"storage_document_id":{text(link.storage_document_id)}'
        f',"mime_type":{text(link.mime_type)}'
        f',"size_bytes":{whole(link.size_bytes)}'
        f',"checksum":{text(link.checksum)}'
        "}"
    )


def kept_row(fence: str, write: FencedWrite) -> str:
    return f"{{{fence},{_progressed(write)}}}"


def ended_row(fence: str, write: FencedWrite, ending: Ending) -> str:
    return (
        f"{{{fence}"
        f",{_progressed(write)}"
        f',"status":{choice(ending.status)}'
        f',"result":{document_or_null(ending.result)}'
        f',"error_code":{text_or_null(ending.error_code)}'
        f',"delay_seconds":{seconds_or_null(ending.delay_seconds)}'
        "}"
    )


def _progressed(write: FencedWrite) -> str:
    return f'"progressed":{truth(bool(write.checkpoints))}'


def _checkpoint_members(checkpoint: Checkpoint) -> str:
    return (
        f'"action":{text(checkpoint.action)}'
        f',"status":{choice(checkpoint.status)}'
        f',"attempts":{whole(checkpoint.attempts)}'
        f',"external_key":{text(checkpoint.external_key)}'
        f',"input_hash":{text(checkpoint.input_hash)}'
        f',"effect":{choice(checkpoint.effect)}'
        f',"uncertain":{truth(checkpoint.uncertain)}'
        f',"result":{document_or_null(checkpoint.result)}'
        f',"provider_reference":{text_or_null(checkpoint.provider_reference)}'
        f',"error_code":{text_or_null(checkpoint.error_code)}'
        f',"finished":{truth(checkpoint.status in _FINISHED)}'
    )
