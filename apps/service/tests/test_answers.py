"""What is counted and logged of each answer of the API: no path, no query, no value that a client chose."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.types import ASGIApp
from structlog.testing import capture_logs
from tests.plugins.migrated_database import TestDatabase

from orchestrator_service.assembly import Service, assembled
from orchestrator_service.settings import read_settings

ISSUER = {"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["RS256"]}
REQUEST = "/api/v1/requests/0197a3f0-0000-7000-8000-00000000beef"


@pytest.fixture
async def service(database: TestDatabase) -> AsyncIterator[Service]:
    variables = {
        "DATABASE_URL": database.runtime_url,
        "REQUEST_API_ENABLED": "true",
        "AUTH_ISSUERS": json.dumps([ISSUER]),
        "CURSOR_SECRETS": "a secret of thirty-two characters",
    }
    async with assembled(read_settings(variables), variables) as service:
        yield service


@asynccontextmanager
async def client_of(app: ASGIApp | None) -> AsyncIterator[httpx2.AsyncClient]:
    assert app is not None
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.test") as client:
        yield client


async def test_each_answer_is_one_log_line_without_path_and_query(service: Service) -> None:
    with capture_logs() as lines:
        async with client_of(service.api) as client:
            await client.get(
                f"{REQUEST}?customer=marker-9", headers={"X-Correlation-Id": "trace-1", "X-Name": "marker-9"}
            )
            await client.request("MARKER-9", "/marker-9")
    told = [line for line in lines if line["event"] == "answered"]
    assert all(0 <= line.pop("seconds") < 60 for line in told)
    assert told[0] == {
        "event": "answered",
        "log_level": "info",
        "method": "GET",
        "route": "/api/v1/requests/{requestId}",
        "status": 401,
        "correlationId": "trace-1",
        "code": "NOT_AUTHENTICATED",
    }
    assert [(line["method"], line["route"], line["status"]) for line in told[1:]] == [("OTHER", None, 404)]
    assert "marker" not in str(lines).lower()
    assert "beef" not in str(lines)


async def test_each_answer_is_counted_under_bounded_labels(service: Service) -> None:
    async with client_of(service.api) as client:
        for path in (REQUEST, REQUEST, "/nowhere-1", "/nowhere-2"):
            await client.get(path)
    async with client_of(service.management) as supervisor:
        exposition = (await supervisor.get("/metrics")).text
    counted = [
        line for line in exposition.splitlines() if line.startswith("orchestrator_http_answer_seconds_count")
    ]
    assert counted == [
        'orchestrator_http_answer_seconds_count{method="GET",route="/api/v1/requests/{requestId}",status="401"} 2.0',
        'orchestrator_http_answer_seconds_count{method="GET",route="none",status="404"} 2.0',
    ]
