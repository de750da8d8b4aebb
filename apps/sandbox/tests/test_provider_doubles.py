import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from orchestrator_sandbox.providers.server import ProviderServer

CONSULTATION = {"clienteId": "CLI-71", "consentReference": "CONS-1"}


@pytest.fixture
async def providers() -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        ProviderServer() as server,
        httpx2.AsyncClient(base_url=server.url, trust_env=False, timeout=10) as client,
    ):
        yield client


async def script(providers: httpx2.AsyncClient, path: str, *answers: dict[str, object]) -> None:
    queued = await providers.post("/control/script", json={"path": path, "answers": list(answers)})
    assert queued.status_code == 200, queued.text


async def calls(providers: httpx2.AsyncClient, path: str, **query: int) -> dict[str, Any]:
    shown = await providers.get("/control/calls", params={"path": path, **query})
    document: dict[str, Any] = shown.json()
    return document


async def effects(providers: httpx2.AsyncClient, path: str) -> object:
    return (await calls(providers, path))["effects"]


class TestDefaultAnswers:
    async def test_a_known_client_is_found_and_an_unknown_one_is_not(
        self, providers: httpx2.AsyncClient
    ) -> None:
        found = await providers.get("/clientes/CLI-456")
        assert (found.status_code, found.json()) == (200, {"found": True, "customerId": "CUS-456"})
        assert (await providers.get("/clientes/CLI-0")).status_code == 404

    @pytest.mark.parametrize("score", [71, 70, 61, 60])
    async def test_each_boundary_of_the_example_flow_has_a_client(
        self, providers: httpx2.AsyncClient, score: int
    ) -> None:
        body = {"clienteId": f"CLI-{score}", "consentReference": "CONS-1"}
        consulted = await providers.post("/buro/consultas", json=body)
        assert consulted.json() == {"score": score, "consultationId": "BUR-000001"}

    async def test_a_score_keeps_the_digits_that_were_written(self, providers: httpx2.AsyncClient) -> None:
        await providers.put("/control/defaults", content='{"scores": {"CLI-71": 70.500000000000000000001}}')
        consulted = await providers.post("/buro/consultas", json=CONSULTATION)
        score = json.loads(consulted.text, parse_float=Decimal)["score"]
        assert str(score) == "70.500000000000000000001"

    async def test_the_bureau_needs_a_consent_and_a_client_it_knows(
        self, providers: httpx2.AsyncClient
    ) -> None:
        without = await providers.post("/buro/consultas", json={"clienteId": "CLI-71"})
        assert (without.status_code, without.json()["rule"]) == (400, "required")
        unknown = await providers.post("/buro/consultas", json={**CONSULTATION, "clienteId": "CLI-0"})
        assert unknown.status_code == 404

    async def test_a_document_is_valid_unless_it_was_said_to_be_invalid(
        self, providers: httpx2.AsyncClient
    ) -> None:
        await providers.put("/control/defaults", json={"invalidDocuments": {"D-2": ["ILLEGIBLE"]}})
        answers = [
            (
                await providers.post("/documentos/validaciones", json={"documentId": name, "perfil": "INE"})
            ).json()
            for name in ("D-1", "D-2")
        ]
        assert answers == [
            {"status": "VALID", "reasonCodes": []},
            {"status": "INVALID", "reasonCodes": ["ILLEGIBLE"]},
        ]

    async def test_the_document_service_shows_registered_documents_only(
        self, providers: httpx2.AsyncClient
    ) -> None:
        assert (await providers.get("/documents/D-1")).status_code == 404
        order = {"ownerSubject": "ana", "businessScope": "SUCURSAL-1", "documentType": "INE"}
        registered = await providers.put(
            "/control/documents/D-1", json={**order, "malwareStatus": "INFECTED"}
        )
        shown = (await providers.get("/documents/D-1")).json()
        assert shown == registered.json()
        assert shown.items() >= {**order, "documentId": "D-1", "malwareStatus": "INFECTED"}.items()
        assert set(shown) - set(order) == {
            "documentId", "requestId", "mimeType", "sizeBytes", "checksum", "malwareStatus",
        }  # fmt: skip

    async def test_a_payment_repeated_with_its_key_pays_twice(self, providers: httpx2.AsyncClient) -> None:
        for _ in range(2):
            await providers.post("/pagos/autorizaciones", json={}, headers={"Idempotency-Key": "k"})
        assert await effects(providers, "/pagos/autorizaciones") == 2

    async def test_the_ledger_of_payments_tells_what_was_authorised_under_a_key(
        self, providers: httpx2.AsyncClient
    ) -> None:
        await script(providers, "/pagos/autorizaciones", {"mode": "drop_after_effect"})
        with pytest.raises(httpx2.HTTPError):
            await providers.post("/pagos/autorizaciones", json={}, headers={"Idempotency-Key": "k:pay"})
        found = await providers.get("/pagos/autorizaciones/k:pay")
        assert found.json() == {"authorizationId": "PAG-000001", "status": "AUTHORIZED"}
        assert (await providers.get("/pagos/autorizaciones/other")).status_code == 404
        assert await effects(providers, "/pagos/autorizaciones") == 1

    async def test_a_record_repeated_with_its_key_is_the_same_record(
        self, providers: httpx2.AsyncClient
    ) -> None:
        first, second, other = [
            await providers.post("/registros", json={"a": a}, headers={"Idempotency-Key": "k"})
            for a in (1, 1, 2)
        ]
        assert first.json() == second.json() == {"recordId": "REG-000001"}
        assert other.status_code == 422
        assert await effects(providers, "/registros") == 1
        assert (await providers.post("/registros", json={})).status_code == 400


class TestScriptedAnswers:
    async def test_scripted_answers_are_used_once_and_in_order(self, providers: httpx2.AsyncClient) -> None:
        await script(
            providers,
            "/clientes/{clienteId}",
            {"status": 503, "headers": {"Retry-After": "7"}, "times": 2},
            {"status": 200, "rawBody": "not json"},
        )
        seen = [await providers.get("/clientes/CLI-456") for _ in range(4)]
        assert [answer.status_code for answer in seen] == [503, 503, 200, 200]
        assert seen[0].headers["retry-after"] == "7"
        assert seen[2].text == "not json"
        assert seen[3].json()["found"] is True

    async def test_an_answer_for_one_method_or_path_is_not_given_to_another(
        self, providers: httpx2.AsyncClient
    ) -> None:
        order = {"path": "/clientes/CLI-70", "method": "GET", "answers": [{"status": 500}]}
        await providers.post("/control/script", json=order)
        assert (await providers.get("/clientes/CLI-71")).status_code == 200
        assert (await providers.post("/clientes/CLI-70")).status_code == 404
        assert (await providers.get("/clientes/CLI-70")).status_code == 500

    async def test_a_drop_before_the_answer_has_no_effect(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/pagos/autorizaciones", {"mode": "drop_before_answer"})
        with pytest.raises(httpx2.TransportError):
            await providers.post("/pagos/autorizaciones", json={})
        assert await effects(providers, "/pagos/autorizaciones") == 0

    async def test_a_drop_after_the_effect_is_answered_to_the_same_key_later(
        self, providers: httpx2.AsyncClient
    ) -> None:
        body = {"score": 12, "consultationId": "BUR-X"}
        await script(providers, "/buro/consultas", {"mode": "drop_after_effect", "body": body})
        key = {"Idempotency-Key": "k"}
        with pytest.raises(httpx2.TransportError):
            await providers.post("/buro/consultas", json=CONSULTATION, headers=key)
        assert await effects(providers, "/buro/consultas") == 1
        repeated = await providers.post("/buro/consultas", json=CONSULTATION, headers=key)
        # The default answer was computed first, and the scripted body stands in its place for good.
        assert repeated.json() == body
        assert await effects(providers, "/buro/consultas") == 1

    async def test_a_truncated_answer_ends_before_its_claimed_length(
        self, providers: httpx2.AsyncClient
    ) -> None:
        await script(providers, "/clientes/CLI-456", {"mode": "truncated"})
        with pytest.raises(httpx2.RemoteProtocolError):
            await providers.get("/clientes/CLI-456")

    async def test_a_false_content_length_is_sent_as_it_was_scripted(
        self, providers: httpx2.AsyncClient
    ) -> None:
        await script(providers, "/clientes/CLI-456", {"headers": {"Content-Length": "5"}})
        assert (await providers.get("/clientes/CLI-456")).text == '{"fou'
        await script(providers, "/clientes/CLI-456", {"headers": {"Content-Length": "500"}})
        with pytest.raises(httpx2.RemoteProtocolError):
            await providers.get("/clientes/CLI-456")

    async def test_a_dripping_answer_pauses_before_each_byte(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/clientes/CLI-456", {"mode": "drip", "delayMs": 10, "rawBody": "ten bytes!"})
        started = asyncio.get_running_loop().time()
        assert (await providers.get("/clientes/CLI-456")).text == "ten bytes!"
        assert asyncio.get_running_loop().time() - started >= 10 * 0.010

    async def test_a_delayed_answer_outlasts_an_impatient_client(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/clientes/CLI-456", {"delayMs": 60_000})
        with pytest.raises(httpx2.ReadTimeout):
            await providers.get("/clientes/CLI-456", timeout=0.05)

    async def test_bytes_that_are_no_text_are_sent_untouched(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/clientes/CLI-456", {"rawBodyBase64": "//4="})
        assert (await providers.get("/clientes/CLI-456")).content == b"\xff\xfe"

    async def test_a_held_call_is_answered_when_it_is_released(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/pagos/autorizaciones", {"mode": "hold"})
        async with asyncio.TaskGroup() as group:
            payment = group.create_task(providers.post("/pagos/autorizaciones", json={}))
            held = await providers.get("/control/holding", params={"wait": 1})
            assert held.json() == {"holding": 1}
            assert await effects(providers, "/pagos/autorizaciones") == 1
            assert not payment.done()
            assert (await providers.post("/control/release")).json() == {"released": 1}
        assert payment.result().json()["status"] == "AUTHORIZED"
        assert (await providers.get("/control/holding")).json() == {"holding": 0}


class TestControl:
    async def test_a_call_is_listed_with_what_identifies_it(self, providers: httpx2.AsyncClient) -> None:
        headers = {"Idempotency-Key": "e:a", "X-Fencing-Token": "7", "X-Correlation-Id": "c-1"}
        await providers.post("/registros", json={"a": 1}, headers=headers)
        listed = await calls(providers, "/registros", wait=1)
        (call,) = listed["calls"]
        del call["headers"]
        assert call == {
            "number": 1,
            "method": "POST",
            "path": "/registros",
            "body": {"a": 1},
            "idempotencyKey": "e:a",
            "fencingToken": "7",
            "correlationId": "c-1",
            "effectApplied": True,
            "scripted": False,
            "status": 200,
        }

    async def test_calls_are_found_by_their_template_too(self, providers: httpx2.AsyncClient) -> None:
        await providers.get("/clientes/CLI-70")
        await providers.get("/clientes/CLI-71")
        listed = await calls(providers, "/clientes/{clienteId}")
        assert [call["path"] for call in listed["calls"]] == ["/clientes/CLI-70", "/clientes/CLI-71"]

    async def test_a_wait_ends_with_what_there_is_when_its_time_is_over(
        self, providers: httpx2.AsyncClient
    ) -> None:
        listed = await calls(providers, "/registros", wait=1, timeoutMs=10)
        assert listed == {"calls": [], "effects": 0}

    async def test_a_reset_forgets_scripts_calls_and_data(self, providers: httpx2.AsyncClient) -> None:
        await script(providers, "/clientes/CLI-456", {"status": 500})
        await providers.put("/control/defaults", json={"clients": {}})
        await providers.get("/clientes/CLI-70")
        await providers.post("/control/reset")
        assert (await calls(providers, "/clientes/{clienteId}"))["calls"] == []
        assert (await providers.get("/clientes/CLI-456")).status_code == 200

    @pytest.mark.parametrize(
        ("order", "pointer"),
        [
            ({"path": "/a", "answers": [{"mode": "explode"}]}, "/answers/0/mode"),
            ({"path": "/a", "answers": [{"headers": {"A": "b\r\nc: d"}}]}, "/answers/0/headers/A"),
            ({"path": "a", "answers": [{}]}, "/path"),
            ({"path": "/a", "answers": []}, "/answers"),
            ([], ""),
        ],
    )
    async def test_a_wrong_script_is_refused_with_its_place(
        self, providers: httpx2.AsyncClient, order: object, pointer: str
    ) -> None:
        refused = await providers.post("/control/script", json=order)
        assert (refused.status_code, refused.json()["pointer"]) == (400, pointer)

    async def test_control_text_that_is_no_json_is_refused(self, providers: httpx2.AsyncClient) -> None:
        refused = await providers.post("/control/script", content=b"{")
        assert (refused.status_code, refused.json()["error"]) == (400, "MALFORMED_JSON")

    async def test_a_wait_for_no_number_is_refused(self, providers: httpx2.AsyncClient) -> None:
        refused = await providers.get("/control/calls", params={"wait": "-1"})
        assert (refused.status_code, refused.json()["pointer"]) == (400, "?wait")

    async def test_an_unknown_control_is_not_found(self, providers: httpx2.AsyncClient) -> None:
        assert (await providers.post("/control/explode")).status_code == 404
