"""What the crash cases look at: rows behind the API, leases that run out, and the proof of a history."""

from typing import Any

import psycopg
from attrs import frozen
from psycopg.rows import dict_row
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService

from orchestrator_domain.audit import AuditEntry, verify_chain
from orchestrator_postgres.engine import use_exact_json
from orchestrator_postgres.row_mapping import audit_entry_of

LOOKUP = "/clientes/{clienteId}"


@frozen(kw_only=True)
class Evidence:
    """One execution of one request, as the database holds it."""

    service: RunningService
    request_id: str
    execution_id: str

    def let_lease_expire(self) -> None:
        """Let the lease of whoever holds the execution run out now."""
        self.service.database.execute(
            "UPDATE orchestrator.execution SET lease_until = clock_timestamp() - interval '1 second'"
            " WHERE id = %s AND status = 'RUNNING'",
            self.execution_id,
        )

    def checkpoints(self) -> dict[str, tuple[str, int]]:
        """Return status and attempts by action."""
        rows = self.service.database.execute(
            "SELECT action_id, status, attempt_count FROM orchestrator.action_execution WHERE execution_id = %s",
            self.execution_id,
        )
        return {action: (status, attempts) for action, status, attempts in rows}

    def await_checkpoint(self, action: str, status: str) -> None:
        wait_until(f"{action} being {status}", lambda: self.checkpoints().get(action, ("", 0))[0] == status)

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row that a run may write."""
        return {
            "request": self._rows(
                "SELECT * FROM orchestrator.request_instance WHERE id = %s", self.request_id
            ),
            "execution": self._rows("SELECT * FROM orchestrator.execution WHERE id = %s", self.execution_id),
            "actions": self._rows(
                "SELECT * FROM orchestrator.action_execution WHERE execution_id = %s ORDER BY action_id",
                self.execution_id,
            ),
            "history": self._rows(
                "SELECT * FROM orchestrator.audit_entry WHERE request_id = %s ORDER BY sequence",
                self.request_id,
            ),
        }

    def history(self) -> list[AuditEntry]:
        """Return the history, once its chain holds up to the head that the request keeps."""
        seen = self.everything()
        entries = [audit_entry_of(row) for row in seen["history"]]
        broken = verify_chain(entries, stored_head=seen["request"][0]["audit_head"])
        assert broken is None, broken
        return entries

    def kinds(self) -> list[str]:
        """Return what happened, in order."""
        return [entry.kind.value for entry in self.history()]

    def _rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        with psycopg.connect(self.service.database.superuser_url, row_factory=dict_row) as connection:
            use_exact_json(connection)
            connection.execute("SET TimeZone TO 'UTC'")
            return connection.execute(query, parameters).fetchall()
