"""The example flow, and what the acceptance cases need beside it."""

import json
from copy import deepcopy
from typing import Any

from tests.plugins.trial_catalogue import EXAMPLES


def credito() -> dict[str, Any]:
    """Return the example flow as it is delivered."""
    document: dict[str, Any] = json.loads((EXAMPLES / "flows" / "credito-v1.json").read_text())
    return document


def credito_with_licence() -> dict[str, Any]:
    """Return version 2 of the example flow: a driving licence is captured and validated before the bureau."""
    document = {**credito(), "version": 2}
    document["states"] = [*document["states"], {"key": "LICENCIA_PENDIENTE", "terminal": False}]
    document["events"] = [*document["events"], {**_named(document["events"], "REGISTRAR_INE")}]
    document["events"][-1]["key"] = "REGISTRAR_LICENCIA"
    document["transitions"] = [*_redirected_statement(document), _licence_transition(document)]
    document["tasks"] = [*document["tasks"], _licence_task(document)]
    data = document["dataSchema"]["properties"]
    data["documentos"]["properties"]["licencia"] = {"$ref": "urn:flow:schema:documento"}
    data["validaciones"]["properties"]["licencia"] = {"$ref": "urn:flow:schema:validacionDocumento"}
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


def _redirected_statement(document: dict[str, Any]) -> list[dict[str, Any]]:
    transitions: list[dict[str, Any]] = deepcopy(document["transitions"])
    for transition in transitions:
        if transition["event"] == "REGISTRAR_ESTADO_CUENTA":
            transition["destinations"]["DOCUMENTO_VALIDO"] = "LICENCIA_PENDIENTE"
    return transitions


def _licence_transition(document: dict[str, Any]) -> dict[str, Any]:
    identification = next(each for each in document["transitions"] if each["event"] == "REGISTRAR_INE")
    text = json.dumps(identification).replace("/documentos/ine", "/documentos/licencia")
    transition: dict[str, Any] = json.loads(text.replace("/validaciones/ine", "/validaciones/licencia"))
    transition["actions"][0]["documentType"] = "LICENCIA_CONDUCIR"
    transition["actions"][1]["profile"] = "LICENCIA_CONDUCIR"
    return {
        **transition,
        "id": "registrar-licencia",
        "from": "LICENCIA_PENDIENTE",
        "event": "REGISTRAR_LICENCIA",
        "destinations": {"DOCUMENTO_VALIDO": "BURO_PENDIENTE", "DOCUMENTO_INVALIDO": "LICENCIA_PENDIENTE"},
    }


def _licence_task(document: dict[str, Any]) -> dict[str, Any]:
    identification = next(deepcopy(each) for each in document["tasks"] if each["event"] == "REGISTRAR_INE")
    ui = {
        **identification["ui"],
        "title": "Sube tu licencia de conducir",
        "documentType": "LICENCIA_CONDUCIR",
    }
    return {**identification, "state": "LICENCIA_PENDIENTE", "event": "REGISTRAR_LICENCIA", "ui": ui}
