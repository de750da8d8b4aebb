"""What admin_audit is told about acts on flow versions."""

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import CorrelationId, Sha256Hex
from orchestrator_domain.ports.flow_store import AdminFact


def flow_fact(
    action: str,
    flow: StoredFlow,
    actor: Actor,
    correlation_id: CorrelationId | None,
    *,
    before: StoredFlow | None,
) -> AdminFact:
    """Return the fact of an act that left `flow`, with the definition's checksum before and after it."""
    return AdminFact(
        action=action,
        actor=actor.subject,
        flow_id=flow.id,
        correlation_id=correlation_id,
        detail={
            "flowKey": flow.flow_key,
            "version": flow.version,
            "checksumBefore": None if before is None else checksum_of(before.document),
            "checksum": checksum_of(flow.document),
        },
    )


def checksum_of(document: JsonObject) -> Sha256Hex:
    """Return the checksum of a definition: SHA-256 of its canonical form (specification, section 11)."""
    return Sha256Hex(sha256_hex(document))
