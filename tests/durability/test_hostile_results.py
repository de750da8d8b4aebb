"""Results that no store could hold: each is a broken contract, and the worker goes on."""

import gzip
from base64 import b64encode
from typing import Any

import pytest
from tests.acceptance.credit import CONSENT
from tests.acceptance.flows import registering, scoring
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

GOOD = '{"score":71,"consultationId":"%s"}'
ANSWERS: dict[str, dict[str, Any]] = {
    "escaped-nul": {"rawBody": GOOD % "\\u0000"},
    "raw-nul": {"rawBodyBase64": b64encode((GOOD % "\x00").encode()).decode()},
    "lone-surrogate": {"rawBody": GOOD % "\\ud800"},
    "swapped-surrogates": {"rawBody": GOOD % "\\udc00\\ud800"},
    "huge-exponent": {"rawBody": '{"score":1e999999,"consultationId":"C"}'},
    "tiny-exponent": {"rawBody": '{"score":1e-999999999,"consultationId":"C"}'},
    "huge-digits": {"rawBody": f'{{"score":{"7" * 100_000},"consultationId":"C"}}'},
    "nested-arrays": {"rawBody": "[" * 100_000 + "]" * 100_000},
    "open-arrays": {"rawBody": "[" * 100_000},
    "nested-objects": {"rawBody": '{"a":' * 30_000 + "1" + "}" * 30_000},
    "nested-member": {"rawBody": f'{{"score":71,"consultationId":{"[" * 1000}{"]" * 1000}}}'},
    "no-utf8": {"rawBodyBase64": b64encode(b'{"score":71,"consultationId":"\xff"}').decode()},
    "utf16": {"rawBodyBase64": b64encode((GOOD % "C").encode("utf-16")).decode()},
    "byte-order-mark": {"rawBodyBase64": b64encode(b"\xef\xbb\xbf" + (GOOD % "C").encode()).decode()},
    "too-large": {"rawBody": GOOD % ("C" * 300_000)},
    "bomb": {
        "rawBodyBase64": b64encode(gzip.compress((GOOD % ("C" * 50_000_000)).encode())).decode(),
        "headers": {"Content-Encoding": "gzip"},
    },
    "no-gzip": {"rawBody": GOOD % "C", "headers": {"Content-Encoding": "gzip"}},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_result_is_a_broken_contract_and_its_worker_lives_on(
    service: RunningService, providers: ScriptedProviders, hostile_type: str, name: str
) -> None:
    analyst = service.user()
    request = analyst.create(hostile_type, {"clienteId": "CLI-71"})
    providers.script("/buro/consultas", {"status": 200, **ANSWERS[name]})

    execution = analyst.run(request, "VALIDAR_BURO", CONSENT)

    seen = analyst.shown(request)
    assert (execution["status"], execution["errorCode"]) == ("FAILED", "CONTRACT_VIOLATION")
    assert (seen["state"], seen["data"]) == ("BURO_PENDIENTE", {"clienteId": "CLI-71"})
    told = [line for line in service.process.log().splitlines() if execution["executionId"] in line]
    assert not [line for line in told if "worker_disturbed" in line]
    assert analyst.run(request, "VALIDAR_BURO", CONSENT)["result"]["outcome"] == "N"


def test_a_hostile_result_of_a_write_waits_for_an_operator(
    service: RunningService, providers: ScriptedProviders
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering("REGISTRO_CREA")))
    providers.script("/registros", {"status": 200, "rawBody": '{"recordId":"\\u0000"}'})

    execution = analyst.run(request, "REGISTRAR")

    assert (execution["status"], execution["errorCode"]) == ("RECONCILIATION_REQUIRED", "CONTRACT_VIOLATION")
    assert providers.effects("/registros") == 1


@pytest.fixture(scope="session")
def hostile_type(service_with_worker: RunningService) -> str:
    """A type whose requests wait for the bureau."""
    return service_with_worker.offer(scoring())
