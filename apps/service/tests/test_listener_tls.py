"""The API behind a certificate of its own."""

import asyncio
import ssl
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.plugins.certificate_authority import Authority

from orchestrator_service.assembly.parts import Draining
from orchestrator_service.assembly.service import Service
from orchestrator_service.cli import main
from orchestrator_service.serve import Process
from orchestrator_service.settings import read_settings


def _variables(certificate: Path, key: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x",
        "LISTEN_PORT": "0",
        "LISTEN_TLS_CERTIFICATE_FILE": str(certificate),
        "LISTEN_TLS_KEY_FILE": str(key),
    }


def _application() -> Starlette:
    return Starlette(routes=[Route("/health/ready", lambda _: PlainTextResponse("well"))])


async def _answer(port: int, context: ssl.SSLContext | None) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        writer.write(b"GET /health/ready HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n")
        return await reader.read()
    finally:
        writer.close()


async def test_the_api_is_reached_by_https_alone(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    authority = Authority.new()
    variables = _variables(*authority.issue(tmp_path, "api"))
    service = Service(api=_application(), management=Starlette(), worker=None, draining=Draining())
    process = Process(service=service, settings=read_settings(variables))
    process.listen()
    running = asyncio.create_task(process.run())
    async with asyncio.timeout(30):
        url = (await process.urls())["apiUrl"]
        port = int(url.rpartition(":")[2])
        assert url == f"https://127.0.0.1:{port}"

        trusting = ssl.create_default_context(cadata=authority.pem)
        assert (await _answer(port, trusting)).endswith(b"well")
        assert await _answer(port, None) == b""

        for name, value in {**variables, "LISTEN_PORT": str(port)}.items():
            environment.setenv(name, value)
        assert await asyncio.to_thread(main, ["health"]) == 0

        process.end()
        assert await running == 0


def test_a_certificate_and_a_key_that_do_not_serve_stop_the_start(
    tmp_path: Path, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    authority = Authority.new()
    certificate, key = authority.issue(tmp_path, "api")
    _, key_of_another = authority.issue(tmp_path / "other", "other")
    (tmp_path / "locked").mkdir()
    locked_certificate, locked_key = authority.issue(tmp_path / "locked", "locked", password=b"hunter2")
    environment.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/x")
    environment.setenv("WORKER_ENABLED", "true")

    def told(certificate: Path | None, key: Path | None) -> str:
        for name, file in {"CERTIFICATE": certificate, "KEY": key}.items():
            environment.setenv(f"LISTEN_TLS_{name}_FILE", "" if file is None else str(file))
        assert main(["serve"]) == 2
        return capsys.readouterr().err

    assert "belong together" in told(certificate, key_of_another)
    assert "belong together" in told(key, key)
    assert "set together or not at all" in told(certificate, None)
    assert "set together or not at all" in told(None, key)
    assert "protected by a password" in told(locked_certificate, locked_key)
    assert "LISTEN_TLS_KEY_FILE names a file that can't be found" in told(certificate, tmp_path / "nothing")
