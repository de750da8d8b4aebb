"""Flows of two actions of one effect class, so that one's end and the other's start share a commit."""

from enum import StrEnum
from typing import Any

from tests.acceptance.flows import registering


class EffectClass(StrEnum):
    """Which integration stands for an effect."""

    READ_ONLY = "CLIENTES_CONSULTA"
    IDEMPOTENT_WRITE = "REGISTRO_CREA"
    NON_IDEMPOTENT_WRITE = "PAGO_AUTORIZA"


def acting_twice(effect: EffectClass) -> dict[str, Any]:
    """Return a flow whose REGISTRAR does two things of this kind, one after the other."""
    flow = registering(effect.value)
    inputs = {"clienteId" if effect is EffectClass.READ_ONLY else "referencia": {"literal": "CLI-71"}}
    flow["transitions"][0]["actions"] = [
        {"id": action, "type": "INVOKE_INTEGRATION", "integrationKey": effect.value, "inputs": inputs}
        | {"resultKey": f"result_{action}"}
        for action in ("first", "second")
    ]
    flow["transitions"][0]["updates"] = [{"target": "/done", "value": {"path": "/results/result_second"}}]
    return flow
