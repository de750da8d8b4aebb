"""The issuer and the doubles in one process, as a container of the development environment runs them."""

import socket

import httpx2
import pytest
from tests.plugins.process_room import ProcessRoom

from orchestrator_sandbox.cli import main

MOCKS = "orchestrator_sandbox.cli"


def test_tokens_carry_the_name_that_was_given_and_the_doubles_answer(process_room: ProcessRoom) -> None:
    mocks = process_room.start(MOCKS, "mocks", "--issuer", "http://mocks:9000")

    assert mocks.said["issuer"] == "http://mocks:9000"
    with httpx2.Client(trust_env=False) as http:
        discovered = http.get(f"{mocks.said['issuerUrl']}/.well-known/openid-configuration").json()
        assert discovered["issuer"] == "http://mocks:9000"
        assert http.get(f"{mocks.said['providersUrl']}/clientes/CLI-71").status_code == 200
    assert mocks.end() == 0


def test_without_a_name_the_issuer_is_called_by_its_address(process_room: ProcessRoom) -> None:
    mocks = process_room.start(MOCKS, "mocks")

    assert mocks.said["issuer"] == mocks.said["issuerUrl"]
    assert mocks.end() == 0


def test_a_port_that_is_taken_is_told_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert main(["mocks", "--issuer-port", str(port)]) == 1

    assert capsys.readouterr().err.startswith(
        f"orchestrator-sandbox: Can't listen on port {port} of 127.0.0.1"
    )
