"""Let generated requests get somewhere: where a body fits its schema, name things that exist.

Runs inside the explorer's own environment, which knows nothing of this project.
"""

import json
import os
from typing import Any
from uuid import uuid4

import schemathesis  # type: ignore[import-not-found] # it is installed in the explorer's environment only

EXISTING: dict[str, Any] = json.loads(os.environ["EXPLORATION_KNOWS"])


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_body(context: Any, body: Any) -> Any:
    """Replace what is of the right kind already, so that what is wrong on purpose stays wrong."""
    if not isinstance(body, dict):
        return body
    match context.operation.label:
        case "POST /api/v1/requests":
            return _replaced(body, typeKey=EXISTING["typeKey"], data={}, businessScope=EXISTING["scope"])
        case "POST /api/v1/requests/{requestId}/events":
            return _replaced(body, event=EXISTING["event"], data=EXISTING["eventData"])
        case "POST /api/v1/admin/flows":
            return {**EXISTING["definition"], "flowKey": f"X-{uuid4().hex}"}
        case "PUT /api/v1/admin/request-types/{typeKey}/active-flow":
            return _replaced(body, flowId=EXISTING["flowId"])
        case _:
            return body


def _replaced(body: dict[str, Any], **existing: Any) -> dict[str, Any]:
    fitting = {name: value for name, value in existing.items() if type(body.get(name)) is type(value)}
    return {**body, **fitting}
