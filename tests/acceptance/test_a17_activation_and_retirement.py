"""A17 activation, creation and retirement meet: no new request refers to a retired flow."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from threading import Barrier
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest
from attrs import frozen
from tests.acceptance.flows import credito
from tests.plugins.api_user import code_of, exact
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService

ROUNDS = 40

type Act = Callable[[], httpx2.Response]


@frozen(kw_only=True)
class Office:
    """One type with its flow versions, and the acts that meet."""

    service: RunningService
    type_key: str

    def publish(self, version: int) -> str:
        return self.service.publish({**credito(), "flowKey": self.type_key, "version": version})

    def activate(self, flow_id: str) -> httpx2.Response:
        place = f"/admin/request-types/{self.type_key}/active-flow"
        return self.service.author.call("PUT", place, {"flowId": flow_id}, headers={"If-Match": "*"})

    def retire(self, flow_id: str) -> httpx2.Response:
        return self.service.author.call("POST", f"/admin/flows/{flow_id}/retire")

    def create(self) -> httpx2.Response:
        return self.service.user().try_to_create(self.type_key, {"montoSolicitado": 1000, "plazoMeses": 12})

    def requests(self) -> list[tuple[Any, ...]]:
        """Return which flow each request of the type refers to."""
        return self.service.database.execute(
            "SELECT flow_id::text FROM orchestrator.request_instance WHERE type_key = %s", self.type_key
        )

    def one_after_the_other(self, flow_id: str, first: Act, second: Act) -> list[httpx2.Response]:
        """Queue both behind a lock of the flow, in this order, and return their answers."""
        with ThreadPoolExecutor(2) as pool:
            with self._held(flow_id):
                answers: list[Future[httpx2.Response]] = []
                for act in (first, second):
                    answers.append(pool.submit(act))
                    wait_until("an act that waits for the flow", lambda: self._waiting() == len(answers))
            return [answer.result() for answer in answers]

    def _waiting(self) -> int:
        ((number,),) = self.service.database.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(number)

    @contextmanager
    def _held(self, flow_id: str) -> Iterator[None]:
        with psycopg.connect(self.service.database.superuser_url) as connection:
            connection.execute("SELECT FROM orchestrator.flow_definition WHERE id = %s FOR UPDATE", [flow_id])
            yield


@pytest.fixture
def office(service: RunningService) -> Office:
    """A new type that no version is active of yet."""
    return Office(service=service, type_key=f"T-{uuid4().hex}")


@pytest.fixture
def active(office: Office) -> str:
    """Version 1, the active one."""
    flow_id = office.publish(1)
    office.service.activate(office.type_key, flow_id)
    return flow_id


def test_a17_a_creation_that_comes_after_the_retirement_is_refused(office: Office, active: str) -> None:
    retirement, creation = office.one_after_the_other(active, lambda: office.retire(active), office.create)

    assert (retirement.status_code, exact(retirement)["status"]) == (200, "RETIRED")
    assert code_of(creation) == (409, "FLOW_RETIRED")
    assert office.requests() == []


def test_a17_a_creation_that_comes_before_the_retirement_keeps_its_flow(office: Office, active: str) -> None:
    creation, retirement = office.one_after_the_other(active, office.create, lambda: office.retire(active))

    assert (creation.status_code, retirement.status_code) == (201, 200)
    assert exact(creation)["flow"]["flowId"] == active
    assert code_of(office.create()) == (409, "FLOW_RETIRED")
    # What exists goes on.
    execution = office.service.user().run(
        exact(creation)["requestId"], "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"}
    )
    assert execution["status"] == "SUCCEEDED"


def test_a17_an_activation_that_comes_after_the_retirement_is_refused(office: Office, active: str) -> None:
    second = office.publish(2)
    retirement, activation = office.one_after_the_other(
        second, lambda: office.retire(second), lambda: office.activate(second)
    )

    assert retirement.status_code == 200
    assert code_of(activation) == (409, "FLOW_RETIRED")
    assert exact(office.create())["flow"]["flowId"] == active


def test_a17_an_activation_that_comes_before_the_retirement_leaves_nothing_to_create(
    office: Office, active: str
) -> None:
    second = office.publish(2)
    activation, retirement = office.one_after_the_other(
        second, lambda: office.activate(second), lambda: office.retire(second)
    )

    assert (activation.status_code, retirement.status_code) == (200, 200)
    assert code_of(office.create()) == (409, "FLOW_RETIRED")
    assert office.requests() == []
    assert office.activate(active).status_code == 200
    assert exact(office.create())["flow"]["flowId"] == active


def test_a17_whatever_meets_no_request_is_younger_than_the_retirement_of_its_flow(
    office: Office, active: str
) -> None:
    order = Random(17)
    before = active
    seen: set[tuple[int, str | None]] = set()
    with ThreadPoolExecutor(5) as pool:
        for number in range(2, 2 + ROUNDS):
            flow_id = office.publish(number)
            acts: list[Act] = [
                lambda flow=flow_id: office.activate(flow),  # type: ignore[misc]
                lambda flow=flow_id: office.retire(flow),  # type: ignore[misc]
                lambda flow=before: office.retire(flow),  # type: ignore[misc]
                office.create,
                office.create,
            ]
            order.shuffle(acts)
            start = Barrier(len(acts))
            for answer in [pool.submit(_behind, start, act) for act in acts]:
                seen.add(_outcome(answer.result()))
            before = flow_id

    assert seen <= {(200, None), (201, None), (409, "FLOW_RETIRED")}
    assert office.service.database.execute(_YOUNGER_THAN_THE_RETIREMENT) == []


def _behind(start: Barrier, act: Act) -> httpx2.Response:
    start.wait()
    return act()


def _outcome(answer: httpx2.Response) -> tuple[int, str | None]:
    return (answer.status_code, None) if answer.is_success else code_of(answer)


_YOUNGER_THAN_THE_RETIREMENT = """
SELECT request.id
FROM orchestrator.request_instance AS request
JOIN orchestrator.admin_audit AS retirement
  ON retirement.action = 'FLOW_RETIRED' AND retirement.flow_id = request.flow_id
WHERE request.created_at >= retirement.created_at
"""
