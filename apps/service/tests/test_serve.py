"""What a process does when one of its parts ends although nobody has asked it to."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from tests.plugins.embedded_service import EmbeddedService

from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_service.assembly.parts import Draining
from orchestrator_service.assembly.service import Service
from orchestrator_service.logs import configure_logs
from orchestrator_service.serve import Process
from orchestrator_service.settings import read_settings
from orchestrator_worker.renewal import LeaseRenewal, LeaseRenewer
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings


def _broken() -> float:
    raise ArithmeticError("hunter2")


def _worker_that_breaks() -> Worker:
    embedded = EmbeddedService()
    observer = RecordingObserver()
    queue = embedded.harness.queue()

    @asynccontextmanager
    async def renewer() -> AsyncIterator[LeaseRenewer]:
        yield queue

    return Worker(
        settings=WorkerSettings(owner=LeaseOwner("host:1:a")),
        queue=queue,
        runner=embedded.runner(),
        renewal=LeaseRenewal(
            open_renewer=renewer,
            lease_seconds=60,
            renew_seconds=15,
            observer=observer,
            fraction=lambda: 0.5,
        ),
        wakeup=InMemoryWakeup(embedded.harness.clock),
        observer=observer,
        fraction=_broken,
    )


@pytest.mark.usefixtures("logging_as_before")
async def test_a_part_that_ends_by_itself_is_told_by_type_and_ends_the_process_with_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("INFO")
    service = Service(api=None, management=Starlette(), worker=_worker_that_breaks(), draining=Draining())
    process = Process(
        service=service, settings=read_settings({"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x"})
    )

    assert await process.run() == 1

    (line,) = [json.loads(each) for each in capsys.readouterr().err.splitlines()]
    assert (line["event"], line["part"]) == ("part_ended_unexpectedly", "worker")
    assert line["exceptionType"] == "ArithmeticError"
    assert "_broken" in str(line["exceptionPlaces"])
    assert "hunter2" not in json.dumps(line)
    assert service.draining.begun
