"""Bring an execution of the HTTP application to where an operator is needed, as a worker's lost answer would."""

from tests.plugins.http_service import API, HttpService, text_member

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.testing.examples import checkpoint_of, fact_about, write_of
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

EVIDENCE: JsonObject = {"text": "Seen in the ledger of the inventory.", "reference": "OPS-17"}


async def accepted_execution(service: HttpService, *, key: str = "stopped") -> str:
    """Accept CHECK on a new request of the flow that is active already; return the execution's id."""
    request_id = await service.created_request(key=key)
    accepted = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check", "If-Match": "*"},
    )
    return text_member(accepted, "executionId")


async def stop_what_is_due(service: HttpService, *, seed: int = 77) -> None:
    """Claim every execution that is due, and stop each after a write whose answer was lost."""
    queue, identifiers = InMemoryExecutionQueue(service.store), SequentialIdentifiers(seed=seed)
    for claimed in await queue.claim(owner=LeaseOwner("worker-1"), limit=100, lease_seconds=60.0):
        started = checkpoint_of(claimed.execution.id, effect=Effect.NON_IDEMPOTENT_WRITE)
        known = next(iter(claimed.checkpoints), None)
        before = None if known is None else (known.status, known.attempts)
        await queue.checkpoint(claimed.fence, [write_of(started, identifiers, before=before)])
        unknown = started.unknown("PROVIDER_TIMEOUT")
        lost = write_of(unknown, identifiers, before=(started.status, started.attempts))
        fact = fact_about(
            claimed.request,
            identifiers,
            kind=AuditKind.RECONCILIATION_REQUIRED,
            execution_id=claimed.execution.id,
        )
        await queue.require_reconciliation(claimed.fence, [lost], error_code="PROVIDER_TIMEOUT", fact=fact)
