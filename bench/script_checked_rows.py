"""The rows of a script that also parses, validates, hashes and serialises what ours does, by the same means."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from bench.durable_flow import CONTRACT, EVENT_SCHEMA
from bench.script_rows import Row, ScriptRows
from orchestrator_domain.audit import AuditKind, content_hash, detail_hash
from orchestrator_domain.exact_json.canonical import canonical_bytes, sha256_hex
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import check_exact
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_postgres.engine import StoreConnection

_BYTES_MAX = FlowLimits().data_bytes_max


@frozen
class CheckedRows(ScriptRows):
    """Fill in rows that hold; documents from the database are parsed exactly, as every connection of ours does."""

    def prepare(self, _connection: StoreConnection) -> None: ...

    def text(self, rows: Sequence[Row]) -> str:
        return dump_json(list(rows))

    def check_command(self, visible: Mapping[str, Any]) -> None:
        assert isinstance(visible["request_data"], dict)
        assert not EVENT_SCHEMA.violations({})

    def check_execution(self, stored: Mapping[str, Any]) -> None:
        assert isinstance(stored["event_data"], dict)

    def _input_hash(self, claimed: Mapping[str, Any]) -> str:
        inputs = {"item": claimed["request_data"]["item"]}
        assert not CONTRACT.input_validator.violations(inputs)
        return sha256_hex(inputs)

    def _check_result(self, result: Row) -> None:
        check_exact(result)
        assert not CONTRACT.output_validator.violations(result)

    def _data(self, claimed: Mapping[str, Any]) -> Row:
        data: Row = claimed["request_data"]
        assert len(canonical_bytes(data)) <= _BYTES_MAX
        return data

    def _command_hash(self) -> str:
        return sha256_hex({"event": "GO", "data": {}, "ifMatch": "*"})

    def _hashed(self, row: Row) -> Row:
        of_detail = detail_hash(row["salt"], row["detail"])
        of_content = content_hash(
            request_id=row["request_id"],
            entry_id=row["entry_id"],
            kind=AuditKind(row["kind"]),
            actor=row["actor"],
            flow_id=row["flow_id"],
            execution_id=row["execution_id"],
            from_state=row["fact_from_state"],
            to_state=row["fact_to_state"],
            detail_hash=of_detail,
        )
        return {**row, "detail_hash": of_detail, "content_hash": of_content}
