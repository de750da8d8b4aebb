"""`orchestrator health`, by which a container's supervisor learns how the process in it is."""

import socket

import pytest
from tests.plugins.running_service import RunningService

from orchestrator_service.cli import main


def _ports(service: RunningService) -> dict[str, str]:
    said = service.process.said
    return {
        "LISTEN_PORT": str(said["apiUrl"]).rpartition(":")[2],
        "MANAGEMENT_PORT": str(said["managementUrl"]).rpartition(":")[2],
    }


@pytest.mark.parametrize("question", [(), ("ready",), ("live",)])
@pytest.mark.parametrize("name", ["LISTEN_PORT", "MANAGEMENT_PORT"])
def test_a_process_that_is_well_ends_with_0_on_either_port(
    environment: pytest.MonkeyPatch, service: RunningService, question: tuple[str, ...], name: str
) -> None:
    environment.setenv(name, _ports(service)[name])
    environment.setenv(name.replace("PORT", "HOST"), "0.0.0.0")

    assert main(["health", *question]) == 0


def test_a_port_where_nobody_answers_ends_with_1(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        environment.setenv("MANAGEMENT_PORT", str(taken.getsockname()[1]))

        assert main(["health"]) == 1

    assert capsys.readouterr().err == "No answer (ConnectionRefusedError).\n"


def test_a_port_that_is_only_known_to_the_process_itself_can_not_be_asked(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("MANAGEMENT_PORT", "0")

    assert main(["health"]) == 2
    assert "names a port that could be asked" in capsys.readouterr().err
