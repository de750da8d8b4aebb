"""What `compose.yaml` runs, run without containers: the same commands with the same settings, as processes.

The images' variables come first, then those of the compose file; only addresses and the names of the database and its
roles are those of this test. A container engine isn't needed, so what an engine adds (images, network, limits) isn't
shown here.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from attrs import frozen
from psycopg import sql
from tests.packaging.deployment_files import ROOT, documents, stages
from tests.packaging.first_request import first_request
from tests.plugins.postgres_server import PostgresServer
from tests.plugins.process_room import SERVICE, ProcessRoom, StartedProcess
from tools.make_env import filled

(COMPOSE,) = documents("compose.yaml")
IMAGE = next(stage for stage in stages() if stage.name == "service")
SECRETS = dict(re.findall(r"^([A-Z_]+)=(.+)$", filled((ROOT / ".env.example").read_text()), re.MULTILINE))
ROLES = ("orchestrator_owner", "orchestrator_service", "orchestrator_eraser")


@frozen(kw_only=True)
class Composed:
    """The services of the compose file on this machine."""

    room: ProcessRoom
    mark: str
    replaced: dict[str, str]

    def command(self, name: str) -> list[str]:
        return [str(word) for word in COMPOSE["services"][name].get("command", ["serve"])]

    def variables(self, name: str) -> dict[str, str]:
        """Return what a container of this service would find in its environment."""
        given = COMPOSE["services"][name].get("environment", {})
        told = {variable: self._here(str(value)) for variable, value in given.items() if value is not None}
        here = {
            "LISTEN_HOST": "127.0.0.1",
            "MANAGEMENT_HOST": "127.0.0.1",
            "LISTEN_PORT": "0",
            "MANAGEMENT_PORT": "0",
        }
        return {**IMAGE.environment(), **told, **here}

    def run(self, name: str) -> int:
        """Run a service that ends by itself, and return how it ended."""
        return self.room.launch(SERVICE, *self.command(name), variables=self.variables(name)).ended()

    def serve(self, name: str) -> StartedProcess:
        return self.room.start(SERVICE, *self.command(name), variables=self.variables(name))

    def health(self, name: str, process: StartedProcess) -> int:
        port = str(process.said["managementUrl"]).rpartition(":")[2]
        variables = {**self.variables(name), "MANAGEMENT_PORT": port}
        return self.room.launch(SERVICE, "health", variables=variables).ended()

    def examined(self, name: str) -> int:
        """Return what the doctor says of a service: 0 if there is no fault."""
        return self.room.launch(SERVICE, "doctor", variables=self.variables(name)).ended()

    def _here(self, text: str) -> str:
        filled_in = re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: SECRETS[found[1]], text)
        for there, here in self.replaced.items():
            filled_in = filled_in.replace(there, here)
        return filled_in


@pytest.fixture
def mocks(process_room: ProcessRoom) -> StartedProcess:
    """The doubles, as the compose file starts them, on free ports."""
    command = [
        "0" if word in ("9000", "9001") else word.replace("0.0.0.0", "127.0.0.1")
        for word in COMPOSE["services"]["mocks"]["command"]
    ]
    return process_room.start("orchestrator_sandbox.cli", *command)


@pytest.fixture
def composed(
    process_room: ProcessRoom, postgres_server: PostgresServer, mocks: StartedProcess
) -> Iterator[Composed]:
    """The services before any of them has run, with a database that nobody has provisioned."""
    mark = uuid4().hex[:8]
    url = postgres_server.create_database(f"composed_{mark}")
    superuser = urlsplit(url)
    said: dict[str, Any] = dict(mocks.said)
    replaced = {
        f"postgres:{SECRETS['ADMINISTRATOR_PASSWORD']}@postgres:5432/orchestrator": url.partition("://")[2],
        "postgres:5432/orchestrator": f"{superuser.netloc.rpartition('@')[2]}{superuser.path}",
        '"jwksUrl": "http://mocks:9000': f'"jwksUrl": "{said["issuerUrl"]}',
        "http://mocks:9001": said["providersUrl"],
        "/etc/orchestrator/catalogue.json": str(ROOT / "examples" / "catalogue" / "sandbox.json"),
        **{f"{role}:": f"{role}_{mark}:" for role in ROLES},
    }
    yield Composed(room=process_room, mark=mark, replaced=replaced)
    postgres_server.drop_database(f"composed_{mark}")
    with psycopg.connect(postgres_server.superuser_url, autocommit=True) as connection:
        for role in ROLES:
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(f"{role}_{mark}")))


@pytest.mark.exhaustive
def test_what_the_compose_file_runs_takes_a_request_from_its_flow_to_a_worker_s_result(
    composed: Composed, mocks: StartedProcess
) -> None:
    assert [composed.run("provision"), composed.run("migration")] == [0, 0]
    api, worker = composed.serve("service"), composed.serve("worker")
    assert (api.said["worker"], worker.said["apiUrl"], worker.said["worker"]) == (False, None, True)
    assert [composed.health("service", api), composed.health("worker", worker)] == [0, 0]

    assert [composed.examined("service"), composed.examined("worker")] == [0, 0]

    ended = first_request(str(api.said["apiUrl"]), str(mocks.said["issuerUrl"]))

    assert ended["state"] == "INE_PENDIENTE"
    assert [process.end() for process in (worker, api, mocks)] == [0, 0, 0]
