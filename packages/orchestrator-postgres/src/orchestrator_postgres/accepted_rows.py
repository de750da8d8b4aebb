"""What acceptance asks for and stores, as the rows of the set-based statements."""

from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import Revision
from orchestrator_domain.ports.event_judgement import AddressedEvent, NewExecution
from orchestrator_postgres.history import RequestMove, advance_row
from orchestrator_postgres.row_mapping import acceptance_snapshot
from orchestrator_postgres.written_values import choice, document, text, text_or_null, uuid, whole


def event_row(event: AddressedEvent) -> str:
    scopes = ",".join([text(scope) for scope in sorted(event.actor.scopes)])
    return (
        f'{{"request_id":{uuid(event.request_id)}'
        f',"subject":{text(event.actor.subject)}'
        f',"scopes":[{scopes}]'
        f',"key":{text(event.key)}'
        "}"
    )


def execution_row(execution: Execution) -> str:
    return (
        f'{{"id":{uuid(execution.id)}'
        f',"request_id":{uuid(execution.request_id)}'
        f',"idempotency_key":{text(execution.idempotency_key)}'
        f',"payload_hash":{text(execution.payload_hash)}'
        f',"actor_subject":{text(execution.actor.subject)}'
        f',"actor_snapshot":{document(acceptance_snapshot(execution))}'
        f',"event_key":{text(execution.event)}'
        f',"event_data":{document(execution.event_data)}'
        f',"transition_id":{text(execution.transition)}'
        f',"from_state":{text(execution.from_state)}'
        f',"accepted_revision":{whole(execution.accepted_revision)}'
        f',"correlation_id":{text_or_null(execution.correlation_id)}'
        f',"status":{choice(execution.status)}'
        "}"
    )


def accepted_row(accepted: NewExecution) -> str:
    """Return the row by which the request's revision moves on and its history says why."""
    request = accepted.request
    move = RequestMove(from_revision=Revision(request.revision - 1), revision_step=1)
    return advance_row(request.id, accepted.fact, move)
