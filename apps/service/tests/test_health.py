"""Health: ready while the database answers and the process means to stay, alive all the while."""

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest
from attrs import frozen

from orchestrator_postgres.migrate import migrate
from orchestrator_sandbox.database import DatabaseUrls, provisioned_database
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres
from orchestrator_service.assembly import Service, assembled
from orchestrator_service.settings import read_settings


@frozen(kw_only=True)
class Supervised:
    """A service without listeners, and somebody who asks for its health."""

    service: Service
    server: EmbeddedPostgres

    async def health(self, path: str) -> tuple[int, str]:
        transport = httpx2.ASGITransport(self.service.management)
        async with httpx2.AsyncClient(transport=transport, base_url="http://management.test") as client:
            answer = await client.get(f"/health/{path}")
            return answer.status_code, answer.text


@pytest.fixture(scope="module")
def own_server() -> Iterator[tuple[EmbeddedPostgres, DatabaseUrls]]:
    """A database server that may be killed."""
    with EmbeddedPostgres() as server:
        urls = provisioned_database(server)
        migrate(urls.migration)
        yield server, urls


@pytest.fixture
async def supervised(own_server: tuple[EmbeddedPostgres, DatabaseUrls]) -> AsyncIterator[Supervised]:
    """A service on a database server of its own."""
    server, urls = own_server
    variables = {"DATABASE_URL": urls.runtime, "WORKER_ENABLED": "true"}
    async with assembled(read_settings(variables), variables) as service:
        yield Supervised(service=service, server=server)


async def test_a_service_that_is_going_away_is_alive_and_not_ready(supervised: Supervised) -> None:
    assert (await supervised.health("ready"))[0] == 200

    supervised.service.draining.begun = True

    status, told = await supervised.health("ready")
    assert (status, "shutting down" in told) == (503, True)
    assert (await supervised.health("live"))[0] == 200


async def test_without_its_database_a_service_is_alive_and_not_ready_until_it_is_back(
    supervised: Supervised,
) -> None:
    supervised.server.kill()

    status, told = await supervised.health("ready")
    assert (status, "the database does not answer" in told) == (503, True)
    assert "127.0.0.1" not in told
    assert (await supervised.health("live"))[0] == 200

    supervised.server.start()
    assert (await supervised.health("ready"))[0] == 200
