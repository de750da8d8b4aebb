"""The scoring decision over many rows that come as lines of JSON or as Arrow columns, in processor time."""

from functools import partial
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # it comes without types

from bench.figure import Figure, Measured, RatioAtMost, TimesFasterAtLeast
from bench.peers import PeerProcess
from bench.sample import alternately, processor_microseconds_per
from bench.scoring import scoring_decision, scoring_rows
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.simulation.bulk import evaluate_many
from orchestrator_domain.simulation.json_lines import evaluate_json_lines
from orchestrator_service.bulk_decisions import TableDecision

_LINES = 20_000
_ROWS = 200_000


_REST_OF_A_REQUEST = {
    "request": {
        "data": {
            "clienteId": "CLI-000001",
            "nombre": "Ana María Gómez",
            "monto": 120000,
            "plazoMeses": 36,
            "domicilio": {"calle": "Reforma 222", "codigoPostal": "06600"},
        }
    }
}


def _json_lines(besides: dict[str, Any]) -> Measured:
    definition = scoring_decision()
    texts = [dump_json({**row, **besides}) for row in scoring_rows(_LINES)]
    lines = [text.encode() for text in texts]
    with PeerProcess("json_decoders.py") as process:
        process.ask({"lines": texts})
        samples = alternately(
            {
                "ours": lambda: processor_microseconds_per(
                    _LINES, lambda: list(evaluate_json_lines(definition, lines))
                ),
                "msgspec": partial(process.ask, {"measure": "msgspec"}),
            }
        )
    return Measured(
        value=samples["ours"], baseline=samples["msgspec"], baseline_name="msgspec, decoding alone"
    )


def _arrow() -> Measured:
    definition, rows = scoring_decision(), scoring_rows(_ROWS)
    batch = _batch(rows)
    table = TableDecision(definition=definition)
    samples = alternately(
        {
            "ours": lambda: processor_microseconds_per(_ROWS, lambda: list(table.over_batches([batch]))),
            "mappings": lambda: processor_microseconds_per(
                _ROWS, lambda: list(evaluate_many(definition, rows))
            ),
        }
    )
    return Measured(value=samples["ours"], baseline=samples["mappings"], baseline_name="rows as mappings")


def _batch(rows: list[dict[str, Any]]) -> Any:
    scores = pa.array([row["results"]["buro"]["score"] for row in rows], pa.decimal128(9, 2))
    return pa.record_batch([scores], names=["results/buro/score"])


FIGURES = (
    Figure(
        name="decision-bulk-json-lines", unit="µs", target=RatioAtMost(2), measure=partial(_json_lines, {})
    ),
    Figure(
        name="decision-bulk-json-requests",
        unit="µs",
        target=RatioAtMost(2),
        measure=partial(_json_lines, _REST_OF_A_REQUEST),
    ),
    Figure(name="decision-bulk-arrow", unit="µs", target=TimesFasterAtLeast(3), measure=_arrow),
)
