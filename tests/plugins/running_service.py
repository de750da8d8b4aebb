"""The real thing as processes of its own, against a database of the suite's PostgreSQL.

`service` serves the API and runs a worker; `api_alone` serves the API on another database, where a test starts the
workers that it wants to stop, kill or hold up with `start_worker`. Both live as long as the test process; each test
publishes flows under keys of its own.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from attrs import define, field
from tests.plugins.api_user import User, exact
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_server import PostgresServer
from tests.plugins.process_room import SERVICE, ProcessRoom, StartedProcess
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.trial_catalogue import trial_catalogue

SCOPE = "SUCURSAL-1"
AUTHOR_ROLES = ("FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN")


@define(kw_only=True)
class RunningService:
    """One API process with its database; `settings` are the variables that its workers get too."""

    room: ProcessRoom
    database: TestDatabase
    issuer_url: str
    http: httpx2.Client
    settings: Mapping[str, str]
    process: StartedProcess
    _tokens: dict[str, str] = field(factory=dict, init=False)

    def user(
        self,
        subject: str = "analista-1",
        *,
        roles: tuple[str, ...] = ("ANALISTA",),
        scopes: tuple[str, ...] = (SCOPE,),
    ) -> User:
        """Return somebody with these roles in these scopes."""
        order = {"subject": subject, "roles": list(roles), "scopes": list(scopes)}
        name = json.dumps(order)
        if name not in self._tokens:
            answer = self.http.post(f"{self.issuer_url}/token", json=order)
            assert answer.status_code == 200, answer.text
            self._tokens[name] = answer.json()["access_token"]
        return User(api_url=self.process.said["apiUrl"], http=self.http, token=self._tokens[name])

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return every token that its users have got."""
        return tuple(self._tokens.values())

    def stranger(self) -> User:
        """Return somebody without a token."""
        return User(api_url=self.process.said["apiUrl"], http=self.http, token=None)

    @property
    def author(self) -> User:
        return self.user("autora-1", roles=AUTHOR_ROLES)

    def publish(self, document: Mapping[str, Any]) -> str:
        """Write a flow version, publish it, and return its id."""
        created = self.author.call("POST", "/admin/flows", document)
        assert created.status_code == 201, created.text
        flow_id = str(exact(created)["flowId"])
        published = self.author.call("POST", f"/admin/flows/{flow_id}/publish", {})
        assert published.status_code == 200, published.text
        return flow_id

    def activate(self, type_key: str, flow_id: str, headers: Mapping[str, str] | None = None) -> None:
        """Make a flow the active one of a type, which is new unless headers say otherwise."""
        activated = self.author.call(
            "PUT",
            f"/admin/request-types/{type_key}/active-flow",
            {"flowId": flow_id},
            headers=headers or {"If-None-Match": "*"},
        )
        assert activated.status_code == 200, activated.text

    def offer(self, document: Mapping[str, Any]) -> str:
        """Publish a flow under a key of its own, activate it, and return the key of its type."""
        type_key = f"T-{uuid4().hex}"
        self.activate(type_key, self.publish({**document, "flowKey": type_key}))
        return type_key

    def launch_worker(self, **settings: str) -> StartedProcess:
        """Start a worker process without waiting for it."""
        variables = {**self.settings, "WORKER_ENABLED": "true", "WORKER_POLL_MS": "50", **settings}
        return self.room.launch(SERVICE, "serve", variables=variables)


@pytest.fixture(scope="session")
def process_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessRoom]:
    """The processes of this test process; they end with it."""
    room = ProcessRoom(directory=tmp_path_factory.mktemp("processes"))
    yield room
    room.close()


@pytest.fixture(scope="session")
def http() -> Iterator[httpx2.Client]:
    """One pool of connections for all users and controls."""
    limits = httpx2.Limits(max_connections=50, max_keepalive_connections=0)
    with httpx2.Client(timeout=30.0, trust_env=False, limits=limits) as client:
        yield client


@pytest.fixture(scope="session")
def issuer_url(process_room: ProcessRoom) -> str:
    """A running token issuer."""
    return str(process_room.start("orchestrator_sandbox.token_issuer").said["url"])


@pytest.fixture(scope="session")
def providers_url(process_room: ProcessRoom) -> str:
    """Running provider doubles."""
    return str(process_room.start("orchestrator_sandbox.providers").said["url"])


@pytest.fixture
def providers(providers_url: str, http: httpx2.Client) -> Iterator[ScriptedProviders]:
    """The doubles, fresh for this test."""
    doubles = ScriptedProviders(url=providers_url, http=http)
    doubles.reset()
    yield doubles
    doubles.reset()


@pytest.fixture(scope="session")
def shared_settings(
    issuer_url: str, providers_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    """What every process of the service is told here, the database apart."""
    catalogue = tmp_path_factory.mktemp("catalogue") / "catalogue.json"
    catalogue.write_text(json.dumps(trial_catalogue()))
    issuer = {"issuer": issuer_url, "audiences": ["orchestrator"], "algorithms": ["RS256", "ES256"]}
    return {
        "AUTH_ISSUERS": json.dumps([issuer]),
        "CURSOR_SECRETS": "a secret of thirty-two characters",
        "INTEGRATION_CATALOGUE": str(catalogue),
        "PROVIDERS_URL": providers_url,
        "LISTEN_PORT": "0",
        "MANAGEMENT_PORT": "0",
    }


@pytest.fixture(scope="session")
def standing_service(
    process_room: ProcessRoom,
    postgres_server: PostgresServer,
    migrated_template: str,
    issuer_url: str,
    http: httpx2.Client,
    shared_settings: Mapping[str, str],
) -> Iterator[Callable[..., RunningService]]:
    """Makes services that stand until the test process ends, each on a new database."""
    made: list[RunningService] = []

    def make(**variables: str) -> RunningService:
        url = postgres_server.create_database(
            f"orchestrator_test_{uuid4().hex[:16]}", template=migrated_template
        )
        database = TestDatabase(superuser_url=url)
        settings = {**shared_settings, "DATABASE_URL": database.runtime_url}
        serving = {
            **settings,
            "REQUEST_API_ENABLED": "true",
            "FLOW_ADMIN_ENABLED": "true",
            "WORKER_POLL_MS": "50",
            **variables,
        }
        process = process_room.start(SERVICE, "serve", variables=serving)
        made.append(
            RunningService(
                room=process_room,
                database=database,
                issuer_url=issuer_url,
                http=http,
                settings=settings,
                process=process,
            )
        )
        return made[-1]

    yield make
    for service in made:
        process_room.end(service.process)
        postgres_server.drop_database(service.database.name)


@pytest.fixture(scope="session")
def service_with_worker(standing_service: Callable[..., RunningService]) -> RunningService:
    """An API and a worker in one process."""
    return standing_service(WORKER_ENABLED="true")


@pytest.fixture
def service(service_with_worker: RunningService, providers: ScriptedProviders) -> RunningService:
    """An API and a worker in one process, beside fresh doubles."""
    return service_with_worker


@pytest.fixture(scope="session")
def service_without_worker(standing_service: Callable[..., RunningService]) -> RunningService:
    """An API alone."""
    return standing_service()


@pytest.fixture
def api_alone(
    service_without_worker: RunningService, providers: ScriptedProviders
) -> Iterator[RunningService]:
    """An API alone, beside fresh doubles; what a test leaves unfinished is taken from the queue."""
    yield service_without_worker
    service_without_worker.database.execute(_TAKE_FROM_THE_QUEUE)


@pytest.fixture
def start_worker(api_alone: RunningService) -> Iterator[Callable[..., StartedProcess]]:
    """Starts worker processes for `api_alone`, with further settings; they end with the test."""
    started: list[StartedProcess] = []

    def start(**settings: str) -> StartedProcess:
        started.append(api_alone.launch_worker(**settings))
        return api_alone.room.ready(started[-1])

    yield start
    for worker in started:
        api_alone.room.end(worker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the end of every process's log beside a failure."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    room = getattr(item, "funcargs", {}).get("process_room")
    if report.failed and room is not None:
        report.sections.append(("logs of the processes", room.tails()))
    return report  # type: ignore[return-value]


_TAKE_FROM_THE_QUEUE = """
UPDATE orchestrator.execution SET status = 'FAILED', lease_owner = NULL, lease_until = NULL
WHERE status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
"""
