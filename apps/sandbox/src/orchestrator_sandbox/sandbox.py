"""The whole system on one machine, each part as a process of its own."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attrs import define, field, frozen

from orchestrator_sandbox.child_process import ChildProcess
from orchestrator_sandbox.database import DatabaseUrls, provisioned_database
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres
from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.process_watchdog import ProcessWatchdog
from orchestrator_sandbox.state_directory import StateDirectory
from orchestrator_sandbox.stopping import Stopping
from orchestrator_sandbox.token_issuer import DEFAULT_AUDIENCE

SERVICE = "orchestrator_service.cli"
STOP_SECONDS = 10.0
DRAIN_SECONDS = 30.0


@frozen(kw_only=True)
class SandboxPlan:
    """What to start, and where to listen; port 0 takes a free one.

    `service_variables` are settings of the service for its API and worker processes, beside those that the
    sandbox gives them anyway.
    """

    catalogue_file: Path
    workers: int = 2
    api_port: int = 0
    issuer_port: int = 0
    providers_port: int = 0
    database_port: int = 0
    service_variables: Mapping[str, str] = MappingProxyType({})


@contextmanager
def running_sandbox(plan: SandboxPlan, state: StateDirectory, stopping: Stopping) -> Iterator["Sandbox"]:
    """Start everything, and stop it in order at the end of the block, however it ends.

    Raises SandboxFailure when a part doesn't start, StopRequested when a signal comes first.
    """
    server = EmbeddedPostgres(directory=state.database_directory(), port=plan.database_port or None)
    sandbox = Sandbox(plan=plan, state=state, stopping=stopping, server=server)
    try:
        sandbox.start()
        yield sandbox
    finally:
        sandbox.stop()


@define(kw_only=True)
class Sandbox:
    """The running parts and their addresses."""

    plan: SandboxPlan
    state: StateDirectory
    stopping: Stopping
    server: EmbeddedPostgres
    api_url: str = ""
    issuer_url: str = ""
    providers_url: str = ""
    database: DatabaseUrls | None = None
    _watchdog: ProcessWatchdog | None = None
    # In the order of their start; they are stopped the other way round.
    _children: dict[str, ChildProcess] = field(factory=dict)
    _workers_started: int = 0
    _cursor_secret: str = field(factory=secrets.token_hex, repr=False)

    def start(self) -> None:
        """Start all parts, those that need nothing of each other at the same time."""
        self._watchdog = ProcessWatchdog(self.state.path if self.state.temporary else None)
        issuer = self._spawn_issuer()
        providers = self._spawn_providers()
        self.server.start()
        self.database = provisioned_database(self.server)
        self._migrate(self.database)
        self.issuer_url = issuer.await_ready(self.stopping)["url"]
        self.providers_url = providers.await_ready(self.stopping)["url"]
        api = self._spawn_api()
        workers = [self._spawn_worker() for _ in range(self.plan.workers)]
        self.api_url = api.await_ready(self.stopping)["apiUrl"]
        for worker in workers:
            worker.await_ready(self.stopping)

    def stop(self) -> None:
        """Stop workers, API, doubles, issuer and database, in this order; workers finish what they run."""
        workers = self.workers
        for worker in workers:
            worker.ask_to_stop()
        for worker in workers:
            self._await_stop(worker, seconds=DRAIN_SECONDS)
        for child in reversed(list(self._children.values())):
            child.ask_to_stop()
            self._await_stop(child, seconds=STOP_SECONDS)
        self.server.stop()
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None

    @property
    def workers(self) -> tuple[ChildProcess, ...]:
        return tuple(child for name, child in self._children.items() if name.startswith("worker-"))

    def add_worker(self) -> ChildProcess:
        """Start one more worker and return when it is ready."""
        worker = self._spawn_worker()
        worker.await_ready(self.stopping)
        return worker

    def drain_worker(self, worker: ChildProcess) -> None:
        """Stop a worker in order: it finishes what it runs."""
        worker.ask_to_stop()
        self._await_stop(worker, seconds=DRAIN_SECONDS)

    def kill_worker(self, worker: ChildProcess) -> None:
        """Kill a worker at once (SIGKILL), whatever it runs."""
        worker.kill()
        self._forget(worker)

    def check(self) -> None:
        """Raise StopRequested once a signal has come, SandboxFailure when a part has ended by itself."""
        self.stopping.check()
        for child in self._children.values():
            if child.exit_code is not None:
                raise child.fall("ended unexpectedly")
        if self.server.process_id is None:
            tail = "\n".join(self.server.log_file.read_text(errors="replace").splitlines()[-20:])
            raise SandboxFailure(
                f"The database ended unexpectedly. The end of {self.server.log_file}:\n{tail}"
            )

    def process_ids(self) -> dict[str, int | None]:
        """Return the process id of each part by its name."""
        return {
            "database": self.server.process_id,
            **{name: child.process_id for name, child in self._children.items()},
        }

    def _spawn_issuer(self) -> ChildProcess:
        return self._spawn(
            "issuer",
            "orchestrator_sandbox.token_issuer",
            f"--port={self.plan.issuer_port}",
            f"--state-dir={self.state.path / 'issuer'}",
        )

    def _spawn_providers(self) -> ChildProcess:
        return self._spawn(
            "providers", "orchestrator_sandbox.providers", f"--port={self.plan.providers_port}"
        )

    def _migrate(self, urls: DatabaseUrls) -> None:
        migration = self._spawn(
            "migration", SERVICE, "migrate", variables={"MIGRATION_DATABASE_URL": urls.migration}
        )
        migration.await_end(self.stopping)
        self._forget(migration)

    def _spawn_api(self) -> ChildProcess:
        variables = {
            "LISTEN_HOST": "127.0.0.1",
            "LISTEN_PORT": str(self.plan.api_port),
            "REQUEST_API_ENABLED": "true",
            "FLOW_ADMIN_ENABLED": "true",
            "API_DOCS_ENABLED": "true",
            "AUTH_ISSUERS": json.dumps([_trusted(self.issuer_url)]),
            "CURSOR_SECRETS": self._cursor_secret,
        }
        return self._spawn("api", SERVICE, "serve", variables={**self._service_variables(), **variables})

    def _spawn_worker(self) -> ChildProcess:
        self._workers_started += 1
        variables = {**self._service_variables(), "WORKER_ENABLED": "true"}
        return self._spawn(f"worker-{self._workers_started}", SERVICE, "serve", variables=variables)

    def _service_variables(self) -> dict[str, str]:
        assert self.database is not None, "the database is started first"
        return {
            **self.plan.service_variables,
            "DATABASE_URL": self.database.runtime,
            "MANAGEMENT_HOST": "127.0.0.1",
            "MANAGEMENT_PORT": "0",
            "INTEGRATION_CATALOGUE": str(self.plan.catalogue_file),
            "PROVIDERS_URL": self.providers_url,
        }

    def _spawn(
        self, name: str, module: str, *arguments: str, variables: Mapping[str, str] = MappingProxyType({})
    ) -> ChildProcess:
        self.stopping.check()
        child = ChildProcess(
            name=name, module=module, arguments=arguments, variables=variables, directory=self.state.path
        )
        self._children[name] = child
        if self._watchdog is not None:
            self._watchdog.watch(child.process_id)
        return child

    def _await_stop(self, child: ChildProcess, *, seconds: float) -> None:
        child.await_stop(self.stopping, seconds=seconds)
        self._forget(child)

    def _forget(self, child: ChildProcess) -> None:
        del self._children[child.name]
        if self._watchdog is not None:
            self._watchdog.forget(child.process_id)


def _trusted(issuer_url: str) -> dict[str, Any]:
    return {"issuer": issuer_url, "audiences": [DEFAULT_AUDIENCE], "algorithms": ["RS256", "ES256"]}
