"""The `.http` examples run as they stand, each on a service that has seen nothing yet."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.plugins.rest_client_file import FileRequest, RestClient, requests_of, variables_of
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

HTTP_FILES = Path(__file__).parents[2] / "examples" / "http"
SCORES = {71: "PASO_N", 70: "PASO_M", 61: "PASO_M", 60: "REVISION_MANUAL"}


@pytest.fixture
def client(standing_service: Callable[..., RunningService], providers: ScriptedProviders) -> RestClient:
    """A client of a service of its own, whose addresses stand where the file has those of the sandbox."""
    service = standing_service(WORKER_ENABLED="true")
    variables = {
        "api": f"{service.process.said['apiUrl']}/api/v1",
        "issuer": service.issuer_url,
        "providers": providers.url,
    }
    return RestClient(http=service.http, variables=variables)


def run(client: RestClient, file: Path) -> list[FileRequest]:
    assert variables_of(file).keys() == client.variables.keys()
    requests = list(requests_of(file))
    for request in requests:
        answer = client.send(request)
        assert answer.status_code == request.status, f"{request.title}: {answer.text}"
    return requests


def test_the_credit_example_runs_from_publication_to_history(client: RestClient) -> None:
    sent = run(client, HTTP_FILES / "credito.http")
    assert len(sent) > 30
    body = {name: answer.json() for name, answer in client.answers.items()}
    assert body["report"]["publishable"] is True
    assert body["simulation"]["state"] == "PASO_M"
    assert body["published"]["status"] == "PUBLISHED"
    assert [event["event"] for event in body["available"]["events"]] == ["ASIGNAR_CLIENTE"]
    assert client.answers["again"].headers["Idempotent-Replayed"] == "true"
    assert body["again"]["executionId"] == body["assigned"]["executionId"]
    assert body["decided"]["state"] == "PASO_N"
    assert [entry["toState"] for entry in body["history"]["items"]] == [
        "INE_PENDIENTE",
        "ESTADO_CUENTA_PENDIENTE",
    ]
    assert (body["impact"]["requests"], body["impact"]["different"]) == (1, 0)
    assert [point["value"] for point in body["impact"]["threshold"]] == [65, 70, 75]


def test_the_scoring_example_ends_where_its_bounds_say(client: RestClient) -> None:
    run(client, HTTP_FILES / "scoring.http")
    for score, state in SCORES.items():
        assert client.answers[f"decided{score}"].json()["state"] == state


def test_every_example_is_run_here() -> None:
    assert {file.name for file in HTTP_FILES.iterdir()} == {"credito.http", "scoring.http"}
