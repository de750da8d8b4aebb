"""The example flow, and what the acceptance cases need beside it."""

import json
from copy import deepcopy
from typing import Any

from tests.plugins.trial_catalogue import EXAMPLES


def credito() -> dict[str, Any]:
    """Return the example flow as it is delivered."""
    return _delivered("credito-v1")


def credito_with_licence() -> dict[str, Any]:
    """Return version 2 of the example flow: a driving licence is captured and validated before the bureau."""
    return _delivered("credito-v2-licencia")


def compra() -> dict[str, Any]:
    """Return the purchase, whose payment must not be asked for twice."""
    return _delivered("compra-v1")


def askable_compra() -> dict[str, Any]:
    """Return the purchase whose payment can be looked up in the provider's ledger when its answer is lost."""
    document = compra()
    for transition in document["transitions"]:
        for action in transition["actions"]:
            if action["integrationKey"] == "PAGO_AUTORIZACION":
                action["contractVersion"] = 2
    return document


def scoring() -> dict[str, Any]:
    """Return the last step of the example flow alone, with its own decision: it begins where the bureau is next."""
    document = credito()
    destinations = ("BURO_PENDIENTE", "PASO_N", "PASO_M", "REVISION_MANUAL")
    return {
        **document,
        "initialState": "BURO_PENDIENTE",
        "states": [state for state in document["states"] if state["key"] in destinations],
        "creation": {"inputSchema": {"type": "object", "properties": {"clienteId": {"type": "string"}}}},
        "events": [_named(document["events"], "VALIDAR_BURO")],
        "transitions": [each for each in document["transitions"] if each["event"] == "VALIDAR_BURO"],
        "decisions": [each for each in document["decisions"] if each["id"] == "RUTA_SCORING"],
        "tasks": [],
    }


def scoring_by(rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `scoring` with other rules, which may use data that the creation writes."""
    document = scoring()
    document["decisions"] = [{**document["decisions"][0], "rules": rules}]
    del document["dataSchema"], document["restrictedData"]
    del document["creation"]
    return document


def registering(integration: str) -> dict[str, Any]:
    """Return a flow of one step that looks a client up and then writes by way of an integration."""
    return {
        "schemaVersion": 1,
        "flowKey": "REGISTRO",
        "version": 1,
        "initialState": "ABIERTA",
        "states": [{"key": "ABIERTA", "terminal": False}, {"key": "REGISTRADA", "terminal": True}],
        "events": [{"key": "REGISTRAR", "inputSchema": {"type": "object"}}],
        "transitions": [
            {
                "id": "registrar",
                "from": "ABIERTA",
                "event": "REGISTRAR",
                "to": "REGISTRADA",
                "allowedRoles": ["ANALISTA"],
                "actions": [
                    {
                        "id": "consultar",
                        "type": "INVOKE_INTEGRATION",
                        "integrationKey": "CLIENTES_CONSULTA",
                        "inputs": {"clienteId": {"literal": "CLI-71"}},
                        "resultKey": "cliente",
                    },
                    {
                        "id": "escribir",
                        "type": "INVOKE_INTEGRATION",
                        "integrationKey": integration,
                        "inputs": {"referencia": {"path": "/results/cliente/customerId"}},
                        "resultKey": "escrito",
                    },
                ],
                "updates": [{"target": "/escrito", "value": {"path": "/results/escrito"}}],
            }
        ],
        "decisions": [],
        "tasks": [],
    }


def _named(entries: list[dict[str, Any]], key: str) -> dict[str, Any]:
    return next(deepcopy(entry) for entry in entries if entry["key"] == key)


def _delivered(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((EXAMPLES / "flows" / f"{name}.json").read_text())
    return document
