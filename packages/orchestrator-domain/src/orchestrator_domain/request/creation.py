"""Deciding a creation: from a command and the active flow to a new request, purely."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    DataTooLarge,
    InvalidInput,
    ScopeRequired,
)
from orchestrator_domain.exact_json.canonical import canonical_bytes, sha256_hex
from orchestrator_domain.exact_json.schema import SchemaViolation
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import (
    BusinessScope,
    CorrelationId,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Sha256Hex,
)
from orchestrator_domain.request.request import FlowReference, Request


@frozen(kw_only=True)
class CreateRequestCommand:
    """Ask for a new request. `scope` may be left out by an actor who holds exactly one."""

    type_key: RequestTypeKey
    data: JsonObject
    scope: BusinessScope | None
    key: IdempotencyKey
    correlation_id: CorrelationId | None = None


def chosen_scope(command: CreateRequestCommand, actor: Actor) -> BusinessScope:
    """Return the scope of the new request.

    Raises AccessDenied for one that the actor doesn't hold, ScopeRequired when none is named and several (or no)
    scopes are held.
    """
    if command.scope is not None:
        if command.scope not in actor.scopes:
            raise AccessDenied("The token doesn't hold this business scope.", pointer="/businessScope")
        return command.scope
    if len(actor.scopes) != 1:
        raise ScopeRequired(
            "Name one of your business scopes in businessScope, or use a token that holds exactly one.",
            pointer="/businessScope",
        )
    return next(iter(actor.scopes))


def creation_hash(command: CreateRequestCommand) -> Sha256Hex:
    """Return the hash that tells a repeat of a creation from another one under the same key."""
    return Sha256Hex(sha256_hex({"typeKey": command.type_key, "data": command.data}))


def created_request(
    command: CreateRequestCommand,
    actor: Actor,
    *,
    request_id: RequestId,
    scope: BusinessScope,
    reference: FlowReference,
    flow: ReadyFlow,
    limits: FlowLimits,
) -> Request:
    """Return the new request in its flow's initial state.

    Raises AccessDenied, InvalidInput (creation schema or data schema) or DataTooLarge; nothing has been stored.
    """
    creation = flow.definition.creation
    if (
        creation is not None
        and creation.allowed_roles is not None
        and not actor.holds_any(creation.allowed_roles)
    ):
        raise AccessDenied("None of your roles may create requests of this type.")
    _refuse(flow.creation_violations(command.data))
    _refuse(flow.data_violations(command.data))
    if len(canonical_bytes(command.data)) > limits.data_bytes_max:
        raise DataTooLarge("The initial data is larger than this service allows.", pointer="/data")
    return Request(
        id=request_id,
        type_key=command.type_key,
        flow=reference,
        state=flow.definition.initial_state,
        data=command.data,
        owner=actor.subject,
        scope=scope,
    )


def _refuse(violations: tuple[SchemaViolation, ...]) -> None:
    if violations:
        raise InvalidInput(
            "The initial data doesn't satisfy the flow's schema; see the violations.",
            pointer="/data" + violations[0].pointer,
            violations=[("/data" + violation.pointer, violation.message) for violation in violations],
        )
