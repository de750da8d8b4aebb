"""The sandbox's catalogue with short waits, and with integrations that write, for tests of retries and crashes."""

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT_RETRY = {"backoffSeconds": 0.05}
# So that what nobody confirms waits for an operator soon.
SHORT_PROBE = {"askForSeconds": 3, "backoffSeconds": 1}
LEDGER = {
    "request": {
        "method": "GET",
        "path": "/pagos/autorizaciones/{clave}",
        "pathFields": {"clave": {"call": "idempotencyKey"}},
    },
    "answers": {
        "200": {"kind": "result", "fields": {"authorizationId": {"answer": "/authorizationId"}}},
        "404": {"kind": "notFound"},
    },
    "providerReference": "/authorizationId",
    **SHORT_PROBE,
}


def trial_catalogue() -> dict[str, Any]:
    """Return the content of the catalogue file."""
    catalogue: dict[str, Any] = json.loads((EXAMPLES / "catalogue" / "sandbox.json").read_text())
    catalogue["documentService"]["retry"] = SHORT_RETRY
    for integration in catalogue["integrations"]:
        integration["retry"] = SHORT_RETRY
        if "probe" in integration:
            integration["probe"] |= SHORT_PROBE
    # Whoever calls this endpoint soon meets its open circuit, and nobody else does.
    catalogue["endpoints"]["fragile"] = {
        **catalogue["endpoints"]["providers"],
        "circuitBreaker": {"failuresToOpen": 2, "openSeconds": 1, "openMaxSeconds": 1},
    }
    catalogue["integrations"] += [
        _impatient_lookup(catalogue["integrations"][0]),
        _writing("REGISTRO_CREA", "/registros", "recordId", "IDEMPOTENT_WRITE", keyMemorySeconds=None),
        _writing(
            "REGISTRO_FRAGIL",
            "/registros",
            "recordId",
            "IDEMPOTENT_WRITE",
            keyMemorySeconds=None,
            endpoint="fragile",
            retry={**SHORT_RETRY, "attemptsMax": 20},
        ),
        _writing("PAGO_AUTORIZA", "/pagos/autorizaciones", "authorizationId", "NON_IDEMPOTENT_WRITE"),
        _writing(
            "PAGO_CONSULTABLE",
            "/pagos/autorizaciones",
            "authorizationId",
            "NON_IDEMPOTENT_WRITE",
            probe=LEDGER,
        ),
    ]
    return catalogue


def _impatient_lookup(lookup: dict[str, Any]) -> dict[str, Any]:
    timeouts = {"answerSeconds": 0.3, "budgetSeconds": 3}
    return {**lookup, "integrationKey": "CLIENTES_CONSULTA_IMPACIENTE", "timeouts": timeouts}


def _writing(key: str, path: str, identifier: str, effect: str, **changes: Any) -> dict[str, Any]:
    return {
        "integrationKey": key,
        "contractVersion": 1,
        "effect": effect,
        "endpoint": "providers",
        "request": {
            "method": "POST",
            "path": path,
            "bodyFields": {"referencia": {"input": "referencia"}},
        },
        "inputSchema": {
            "type": "object",
            "required": ["referencia"],
            "additionalProperties": False,
            "properties": {"referencia": {"type": "string", "minLength": 1, "maxLength": 100}},
        },
        "outputSchema": {
            "type": "object",
            "required": [identifier],
            "properties": {identifier: {"type": "string", "minLength": 1, "maxLength": 100}},
        },
        "providerReference": f"/{identifier}",
        "retry": SHORT_RETRY,
        # A call that a test holds open must not run into its time on a busy machine.
        "timeouts": {"answerSeconds": 40, "budgetSeconds": 45},
        **changes,
    }
