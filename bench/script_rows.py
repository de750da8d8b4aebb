"""The rows that scripts write, filled in as cheaply as the statements allow."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from attrs import frozen
from psycopg.types.string import TextLoader

from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.stored_json import id_text

type Row = dict[str, Any]

_NO_HASH = "0" * 64
_DATA = {"item": "ladder"}
_SNAPSHOT = {"subject": "clerk", "roles": ["CLERK"], "scopes": ["NORTH"], "attributes": {}}


@frozen
class ScriptRows:
    """Fill in rows without a look at what they hold; documents that come from the database stay text."""

    identifiers: Identifiers

    def prepare(self, connection: StoreConnection) -> None:
        connection.adapters.register_loader("jsonb", TextLoader)

    def text(self, rows: Sequence[Row]) -> str:
        return json.dumps(rows)

    def started(self, claimed: Mapping[str, Any], fence: Row, number: int) -> Row:
        """Return the row of an action's first start."""
        action = f"look{number}"
        return {
            **fence,
            "id": id_text(self.identifiers.uuid()),
            "action": action,
            "status": "RUNNING",
            "attempts": 1,
            "external_key": f"{fence['execution_id']}:{action}",
            "input_hash": self._input_hash(claimed),
            "effect": "READ_ONLY",
            "uncertain": False,
            "result": None,
            "provider_reference": None,
            "error_code": None,
            "finished": False,
        }

    def succeeded(self, started: Row, result: Row) -> Row:
        """Return the row of the action's success, which also says what the completion expects of it."""
        self._check_result(result)
        return {
            **started,
            "status": "SUCCEEDED",
            "result": result,
            "finished": True,
            "before_status": "RUNNING",
            "before_attempts": 1,
        }

    def completed(self, claimed: Mapping[str, Any], actions: int) -> Row:
        """Return the row of the request's transition and of the fact that tells of it."""
        detail: Row = {
            "transitionId": "go",
            "outcome": "DONE",
            "actionIds": [f"look{number}" for number in range(actions)],
            "decision": None,
        }
        ids = id_text(claimed["request_id"]), id_text(claimed["id"])
        fact = self._fact(*ids, claimed["flow_id"], detail)
        moved = {"from_revision": claimed["request_revision"], "to_state": "DONE"}
        told = {"kind": "TRANSITION_COMPLETED", "actor": "system", "fact_to_state": "DONE"}
        return self._hashed({**fact, **moved, "data": self._data(claimed), **told})

    def ended(self, fence: Row) -> Row:
        """Return the row of the execution that is given back."""
        result = {"outcome": "DONE", "fromState": "OPEN", "toState": "DONE"}
        return {
            **fence,
            "progressed": True,
            "status": "SUCCEEDED",
            "result": result,
            "error_code": None,
            "delay_seconds": None,
        }

    def event(self, request_id: UUID) -> Row:
        """Return the row that says whose request is asked for, and under which key."""
        return {"request_id": id_text(request_id), "subject": "clerk", "scopes": ["NORTH"], "key": "go"}

    def execution(self, request_id: UUID) -> Row:
        """Return the row of an accepted execution."""
        return {
            "id": id_text(self.identifiers.uuid()),
            "request_id": id_text(request_id),
            "idempotency_key": "go",
            "payload_hash": self._command_hash(),
            "actor_subject": "clerk",
            "actor_snapshot": _SNAPSHOT,
            "event_key": "GO",
            "event_data": {},
            "transition_id": "go",
            "from_state": "OPEN",
            "accepted_revision": 1,
            "correlation_id": None,
            "status": "PENDING",
        }

    def accepted(self, execution: Row, flow_id: UUID) -> Row:
        """Return the row that moves the request of an accepted event and tells of it."""
        detail = {"event": "GO", "transitionId": "go", "acceptedRevision": 1, "correlationId": None}
        fact = self._fact(execution["request_id"], execution["id"], flow_id, detail)
        moved = {"from_revision": 0, "to_state": None, "data": None}
        told = {"kind": "EVENT_ACCEPTED", "actor": "clerk", "fact_to_state": None}
        return self._hashed({**fact, **moved, **told})

    def check_command(self, visible: Mapping[str, Any]) -> None:
        """Look at the request as it was read, and at the event's data."""

    def check_execution(self, stored: Mapping[str, Any]) -> None:
        """Look at the execution as it was stored."""

    def _fact(self, request_id: str, execution_id: str, flow_id: UUID, detail: Row) -> Row:
        return {
            "request_id": request_id,
            "revision_step": 1,
            "entry_id": id_text(self.identifiers.uuid()),
            "execution_id": execution_id,
            "flow_id": id_text(flow_id),
            "fact_from_state": "OPEN",
            "detail": detail,
            "salt": self.identifiers.salt(),
        }

    def _hashed(self, row: Row) -> Row:
        return {**row, "detail_hash": _NO_HASH, "content_hash": _NO_HASH}

    def _input_hash(self, _claimed: Mapping[str, Any]) -> str:
        return _NO_HASH

    def _check_result(self, _result: Row) -> None: ...

    def _data(self, _claimed: Mapping[str, Any]) -> Row:
        return _DATA

    def _command_hash(self) -> str:
        return _NO_HASH
