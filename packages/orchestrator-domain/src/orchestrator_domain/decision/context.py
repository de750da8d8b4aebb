"""What conditions and mappings may read: one JSON document with four members, read-only."""

from collections.abc import Mapping

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

type EvaluationContext = JsonObject
"""`{"request": {"data"}, "event": {"data"}, "results": {<resultKey>: …}, "actor": {subject, roles, scopes, attributes}}`"""


def evaluation_context(
    *, request_data: JsonObject, event_data: JsonObject, actor: Actor, results: Mapping[str, JsonValue]
) -> EvaluationContext:
    """Assemble the context; nothing is copied, so nobody may change what was handed in."""
    return {
        "request": {"data": request_data},
        "event": {"data": event_data},
        "results": dict(results),
        "actor": actor.as_context(),
    }
