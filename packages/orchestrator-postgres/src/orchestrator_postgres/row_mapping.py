"""Rows to domain values; a row that can't be one raises UnreadableRow, without saying what is in it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.lifecycle import (
    FlowStatus,
    FlowSummary,
    PinnedContract,
    RequestType,
    StoredFlow,
)
from orchestrator_domain.request.request import FlowReference, Request
from orchestrator_postgres.stored_json import as_object, as_object_or_null

_TRACE: Final = "traceParent"

type Row = Mapping[str, Any]


class UnreadableRow(OrchestratorError):
    """A stored row isn't what this version of the code takes it for."""


@contextmanager
def readable(table: str) -> Iterator[None]:
    """Turn whatever mapping a row raises into UnreadableRow."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnreadableRow(f"A row of {table} can't be read.") from None


def flow_of(row: Row) -> StoredFlow:
    with readable("flow_definition"):
        return StoredFlow(
            id=row["id"],
            flow_key=row["flow_key"],
            version=row["version"],
            status=FlowStatus(row["status"]),
            schema_version=row["schema_version"],
            document=as_object(row["definition"]),
            checksum=row["checksum"],
            contracts=contracts_of(row["contracts"]),
            revision=row["revision"],
            created_by=row["created_by"],
            created_at=_utc(row["created_at"]),
            published_at=_utc(row["published_at"]),
        )


def flow_summary_of(row: Row) -> FlowSummary:
    """Map a row of flow_definition that was read without its documents."""
    with readable("flow_definition"):
        return FlowSummary(
            id=row["id"],
            flow_key=row["flow_key"],
            version=row["version"],
            status=FlowStatus(row["status"]),
            schema_version=row["schema_version"],
            checksum=row["checksum"],
            revision=row["revision"],
            created_by=row["created_by"],
            created_at=_utc(row["created_at"]),
            published_at=_utc(row["published_at"]),
        )


def contracts_of(stored: Iterable[Row]) -> tuple[PinnedContract, ...]:
    """Map what flow_definition.contracts keeps."""
    return tuple(_contract_of(entry) for entry in stored)


def contract_document(contract: PinnedContract) -> JsonObject:
    """Return a pinned contract as flow_definition.contracts keeps it."""
    return {
        "transition": contract.transition,
        "action": contract.action,
        "actionType": contract.action_type,
        "integrationKey": contract.integration_key,
        "contractVersion": contract.contract_version,
        "profile": contract.profile,
        "profileVersion": contract.profile_version,
        "checksum": contract.checksum,
    }


def type_of(row: Row) -> RequestType:
    return RequestType(
        key=row["type_key"],
        active_flow=row["active_flow_id"],
        enabled=row["enabled"],
        revision=row["revision"],
    )


def request_of(row: Row) -> Request:
    """Map a row whose columns carry the prefixes `request_` and `flow_`."""
    with readable("request_instance"):
        return Request(
            id=row["request_id"],
            type_key=row["request_type_key"],
            flow=FlowReference(
                id=row["flow_id"],
                key=row["flow_key"],
                version=row["flow_version"],
                checksum=row["flow_checksum"],
            ),
            state=row["request_current_state"],
            data=as_object(row["request_data"]),
            owner=row["request_owner_subject"],
            scope=row["request_business_scope"],
            revision=row["request_revision"],
            created_at=_utc(row["request_created_at"]),
            updated_at=_utc(row["request_updated_at"]),
            # Only those who read data ask whether it was erased.
            data_erased_at=_utc(row.get("request_data_erased_at")),
        )


def execution_of(row: Row) -> Execution:
    with readable("execution"):
        return Execution(
            id=row["id"],
            request_id=row["request_id"],
            idempotency_key=row["idempotency_key"],
            payload_hash=row["payload_hash"],
            actor=_actor_of(row["actor_snapshot"]),
            event=row["event_key"],
            event_data=as_object(row["event_data"]),
            transition=row["transition_id"],
            from_state=row["from_state"],
            accepted_revision=row["accepted_revision"],
            status=ExecutionStatus(row["status"]),
            attempts=row["attempts"],
            fencing_token=row["fencing_token"],
            correlation_id=row["correlation_id"],
            trace_parent=row["actor_snapshot"].get(_TRACE),
            result=as_object_or_null(row["result"]),
            error_code=row["error_code"],
            next_attempt_at=_utc(row["next_attempt_at"]),
            created_at=_utc(row["created_at"]),
            updated_at=_utc(row["updated_at"]),
        )


def acceptance_snapshot(execution: Execution) -> JsonObject:
    """Return what execution.actor_snapshot keeps: who sent the event, and from which place in a trace, if from one."""
    actor = execution.actor.as_context()
    return actor if execution.trace_parent is None else {**actor, _TRACE: execution.trace_parent}


def checkpoint_of(row: Row) -> Checkpoint:
    with readable("action_execution"):
        return Checkpoint(
            action=row["action_id"],
            status=CheckpointStatus(row["status"]),
            attempts=row["attempt_count"],
            external_key=row["external_idempotency_key"],
            input_hash=row["input_hash"],
            effect=Effect(row["effect"]),
            uncertain=row["uncertain"],
            result=as_object_or_null(row["result"]),
            provider_reference=row["provider_reference"],
            error_code=row["error_code"],
            started_at=_utc(row["started_at"]),
            finished_at=_utc(row["finished_at"]),
            first_attempt_age_seconds=float(row["age_seconds"] or 0),
            ended_age_seconds=float(row["ended_age_seconds"] or 0),
        )


def audit_entry_of(row: Row) -> AuditEntry:
    with readable("audit_entry"):
        return AuditEntry(
            id=row["id"],
            request_id=row["request_id"],
            sequence=row["sequence"],
            kind=AuditKind(row["kind"]),
            actor=row["actor_subject"],
            flow_id=row["flow_id"],
            execution_id=row["execution_id"],
            from_state=row["from_state"],
            to_state=row["to_state"],
            detail=as_object_or_null(row["detail"]),
            salt=row["salt"],
            detail_hash=row["detail_hash"],
            head=row["head"],
            created_at=row["created_at"].astimezone(UTC),
        )


def _contract_of(entry: Row) -> PinnedContract:
    return PinnedContract(
        transition=entry["transition"],
        action=entry["action"],
        action_type=entry["actionType"],
        integration_key=entry["integrationKey"],
        contract_version=entry["contractVersion"],
        profile=entry["profile"],
        profile_version=entry["profileVersion"],
        checksum=entry["checksum"],
    )


def _actor_of(snapshot: Mapping[str, JsonValue]) -> Actor:
    return Actor(
        subject=_text(snapshot["subject"]),
        roles=frozenset(_texts(snapshot["roles"])),
        scopes=frozenset(_texts(snapshot["scopes"])),
        attributes=as_object(snapshot["attributes"]),
    )


def _texts(value: JsonValue) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("A stored list is no list.")
    return [_text(item) for item in value]


def _text(value: JsonValue) -> Any:
    if not isinstance(value, str):
        raise TypeError("A stored text is no text.")
    return value


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
