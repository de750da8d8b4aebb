"""Long computations of authors hold up nobody else, and nothing of the process's stack."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from attrs import define, evolve, field
from bench.largest_flow import largest_flow
from tests.plugins.http_service import API, AUTHOR, http_service, text_member
from tests.plugins.running_service import RunningService

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.findings import ValidationReport
from orchestrator_domain.ports.flow_definition_validator import FlowDefinitionValidator
from orchestrator_domain.testing.examples import flow_document
from orchestrator_service.heavy_work import HeavyWork

WAITED_SECONDS_MAX = 20
ON_A_SMALL_STACK = """
import asyncio, threading
import jsonschema_rs
from orchestrator_service.heavy_work import HeavyWork

threading.stack_size(128 * 1024)
schema = {}
for _ in range(120):
    schema = {"properties": {"inner": schema}}
heavy_work = HeavyWork()
print(asyncio.run(heavy_work.run(lambda: jsonschema_rs.validator_for(schema).is_valid({}))))
print(threading.stack_size() == 128 * 1024)
heavy_work.close()
"""


@define
class HeldValidator(FlowDefinitionValidator):
    """A validator that comes to no end before it is let go."""

    begun: threading.Semaphore = field(factory=lambda: threading.Semaphore(0))
    let_go: threading.Event = field(factory=threading.Event)

    def validate(self, document: JsonValue) -> ValidationReport:  # noqa: ARG002 - a port says it
        self.begun.release()
        assert self.let_go.wait(WAITED_SECONDS_MAX)
        return ValidationReport(findings=())

    async def has_begun(self, *, times: int = 1) -> None:
        for _ in range(times):
            assert await asyncio.to_thread(self.begun.acquire, timeout=WAITED_SECONDS_MAX)


@pytest.fixture
async def heavy_work() -> AsyncIterator[HeavyWork]:
    heavy_work = HeavyWork()
    yield heavy_work
    heavy_work.close()


async def test_while_a_flow_is_validated_others_are_answered(heavy_work: HeavyWork) -> None:
    plain, validator = http_service(), HeldValidator()
    author = evolve(plain.services.author_flow, validator=validator, run_heavy=heavy_work.run)
    service = http_service(author_flow=author)
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=flow_document())
    place = f"{API}/admin/flows/{text_member(created, 'flowId')}/validate"
    validating = asyncio.create_task(service.call("POST", place, actor=AUTHOR))
    await validator.has_begun()

    alive = await service.client.get("/health/live")

    assert (alive.status_code, validating.done()) == (200, False)
    validator.let_go.set()
    assert (await validating).status_code == 200


@pytest.mark.parametrize(
    ("act", "body", "status"),
    [("validate", {}, 200), ("simulate", {"event": "E0"}, 422), ("publish", {}, 422)],
)
def test_the_running_service_is_alive_while_it_judges_the_largest_flow(
    api_alone: RunningService, http: httpx2.Client, act: str, body: dict[str, str], status: int
) -> None:
    document = {**largest_flow(), "flowKey": f"LARGEST-{act.upper()}"}
    flow_id = api_alone.author.call("POST", "/admin/flows", document).json()["flowId"]

    def judged() -> float:
        begun_at = time.monotonic()
        answer = api_alone.author.call("POST", f"/admin/flows/{flow_id}/{act}", body)
        # Its integrations aren't in the catalogue, which forbids all but looking at the findings.
        assert answer.status_code == status
        return time.monotonic() - begun_at

    longest = 0.0
    with ThreadPoolExecutor(1) as elsewhere:
        judging = elsewhere.submit(judged)
        while not judging.done():
            asked_at = time.monotonic()
            alive = http.get(f"{api_alone.process.said['managementUrl']}/health/live")
            longest = max(longest, time.monotonic() - asked_at)
            assert alive.status_code == 200
    assert 0 < longest < judging.result() / 3


async def test_two_computations_run_at_once_and_a_third_one_waits(heavy_work: HeavyWork) -> None:
    validator = HeldValidator()
    running = [asyncio.create_task(heavy_work.run(lambda: validator.validate({}))) for _ in range(3)]
    await validator.has_begun(times=2)
    assert not validator.begun.acquire(timeout=0.05)
    validator.let_go.set()
    assert len(await asyncio.gather(*running)) == 3


async def test_what_a_computation_raises_reaches_its_caller(heavy_work: HeavyWork) -> None:
    def fails() -> None:
        raise LookupError("Nothing there.")

    with pytest.raises(LookupError, match="Nothing there"):
        await heavy_work.run(fails)


async def test_a_computation_that_was_given_up_before_it_began_never_begins(heavy_work: HeavyWork) -> None:
    validator, begun = HeldValidator(), []
    running = [asyncio.create_task(heavy_work.run(lambda: validator.validate({}))) for _ in range(2)]
    await validator.has_begun(times=2)
    given_up = asyncio.create_task(heavy_work.run(lambda: begun.append("given up")))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    validator.let_go.set()
    await asyncio.gather(*running)
    await heavy_work.run(lambda: begun.append("last"))
    assert begun == ["last"]


def test_deep_schemas_have_room_whatever_stack_the_system_gives_to_threads() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ON_A_SMALL_STACK], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.split()) == (0, ["True", "True"]), ran.stderr
