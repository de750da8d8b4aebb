"""The whole HTTP application over the real use cases and stores in memory, for tests of what clients see."""

from collections.abc import Collection, Mapping
from typing import Any

import httpx2
from attrs import define, field
from starlette.types import ASGIApp
from tests.plugins.token_desk import AUDIENCE, ISSUER, NOW_SECONDS, KeyPublisher, claims, token

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.contract import ActionContract, ContractFault
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import CorrelationId
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.simulation.no_op import with_no_op
from orchestrator_domain.testing.examples import flow_document, lookup_contract
from orchestrator_domain.testing.in_memory.change_marks import InMemoryChangeMarks
from orchestrator_domain.testing.in_memory.published_flows import InMemoryPublishedFlows
from orchestrator_domain.testing.in_memory.recent_past import InMemoryRecentPast
from orchestrator_domain.testing.in_memory.store import InMemoryStore
from orchestrator_domain.testing.in_memory.unit_of_work import InMemoryUnitOfWork
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_domain.usecases.assess_impact import AssessImpact
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.list_available_events import ListAvailableEvents
from orchestrator_domain.usecases.read_history import ReadHistory
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.simulate_flow import SimulateFlow
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions
from orchestrator_http.app import build_app
from orchestrator_http.authentication import Authentication
from orchestrator_http.change_poll import ChangePoll
from orchestrator_http.cursors import Cursors
from orchestrator_http.problem_boundary import Answered
from orchestrator_http.services import HttpServices, HttpSettings
from orchestrator_http.trusted_issuer import TrustedIssuer

AUTHOR = {"sub": "author-1", "roles": ["FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"]}
API = "/api/v1"


class LendingCatalogue(IntegrationCatalogue):
    """Know the one integration of the example flow."""

    def action_types(self) -> Collection[str]:
        return ("INVOKE_INTEGRATION",)

    def current(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        if action.integration_key != "INVENTORY_LOOKUP":
            fault = ContractFault(
                code="UNKNOWN_INTEGRATION", pointer="/integrationKey", message="No such integration."
            )
            return (fault,)
        return lookup_contract()

    def pinned(self, pin: PinnedContract) -> ActionContract | None:
        return lookup_contract() if pin.checksum == lookup_contract().checksum else None


@define(kw_only=True)
class HttpService:
    """An application, what it was told to remember, and a client for it."""

    app: ASGIApp
    services: HttpServices
    client: httpx2.AsyncClient
    store: InMemoryStore
    publisher: KeyPublisher
    unexpected: list[tuple[Exception, CorrelationId]]
    answered: list[Answered]
    not_ready: list[str]

    async def call(
        self,
        method: str,
        path: str,
        *,
        actor: Mapping[str, Any] | None = None,
        body: JsonValue | bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send a request of an actor (claims that differ from a good token's), with a body as JSON or as bytes."""
        content = body if isinstance(body, bytes) else dump_json(body).encode()
        lines = {"Authorization": f"Bearer {token(claims(**(actor or {})))}", **(headers or {})}
        if content and "Content-Type" not in lines:
            lines["Content-Type"] = "application/json"
        return await self.client.request(method, path, content=content, headers=lines)

    async def published_flow(self) -> str:
        """Write, publish and activate the example flow; return its id."""
        created = await self.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=flow_document())
        flow_id = text_member(created, "flowId")
        await self.call("POST", f"{API}/admin/flows/{flow_id}/publish", actor=AUTHOR)
        activated = await self.call(
            "PUT",
            f"{API}/admin/request-types/LENDING/active-flow",
            actor=AUTHOR,
            body={"flowId": flow_id},
            headers={"If-None-Match": "*"},
        )
        assert activated.status_code == 200, activated.text
        return flow_id

    async def created_request(self, *, key: str = "create-1") -> str:
        """Create a request of the example flow, which must be active; return its id."""
        created = await self.call(
            "POST",
            f"{API}/requests",
            body={"typeKey": "LENDING", "data": {"item": "ladder"}},
            headers={"Idempotency-Key": key},
        )
        assert created.status_code == 201, created.text
        return text_member(created, "requestId")


def http_service(settings: HttpSettings | None = None, **replaced: Any) -> HttpService:
    """Build the application; named services replace the real ones."""
    clock, identifiers = ManualClock(tick_seconds=0.001), SequentialIdentifiers()
    store, flows, publisher = InMemoryStore(clock), FlowLibrary(), KeyPublisher()
    work = InMemoryUnitOfWork(store)
    remembered = _Remembered()
    stopped = StoppedExecutions(unit_of_work=work, flows=flows, catalogue=LendingCatalogue())
    services: dict[str, Any] = {
        "authenticate": _authentication(publisher),
        "create_request": CreateRequest(
            unit_of_work=work, flows=flows, identifiers=identifiers, limits=FlowLimits()
        ),
        "accept_event": AcceptEvent(
            unit_of_work=work,
            flows=flows,
            identifiers=identifiers,
            wakeup=InMemoryWakeup(clock),
            observer=RecordingObserver(),
        ),
        "read_request": ReadRequest(unit_of_work=work, flows=flows),
        "list_available_events": ListAvailableEvents(unit_of_work=work, flows=flows),
        "read_history": ReadHistory(unit_of_work=work),
        "stopped_executions": stopped,
        "resolve_execution": ResolveExecution(
            unit_of_work=work, stopped=stopped, identifiers=identifiers, wakeup=InMemoryWakeup(clock)
        ),
        "author_flow": AuthorFlow(
            unit_of_work=work,
            validator=FlowSoundness(resolve_contract=LendingCatalogue().current),
            catalogue=LendingCatalogue(),
            identifiers=identifiers,
        ),
        "activate_flow": ActivateFlow(unit_of_work=work),
        "simulate_flow": SimulateFlow(
            unit_of_work=work,
            validator=FlowSoundness(resolve_contract=with_no_op(LendingCatalogue().current)),
            catalogue=LendingCatalogue(),
            evaluator=CompiledDecisionEvaluator(),
            limits=FlowLimits(),
        ),
        "assess_impact": AssessImpact(
            unit_of_work=work,
            validator=FlowSoundness(resolve_contract=with_no_op(LendingCatalogue().current)),
            recent_past=InMemoryRecentPast(store),
            published_flows=InMemoryPublishedFlows(store),
            new_evaluator=CompiledDecisionEvaluator,
        ),
        "identifiers": identifiers,
        "readiness": remembered.readiness,
        "change_poll": ChangePoll(marks=InMemoryChangeMarks(store), interval_seconds=0.0),
        "cursors": Cursors(secrets=("a secret of thirty-two characters",)),
        "on_unexpected": remembered.on_unexpected,
        "on_answered": remembered.answered.append,
    }
    offered = HttpServices(**{**services, **replaced})
    app = build_app(offered, settings or HttpSettings(request_api_enabled=True, flow_admin_enabled=True))
    return HttpService(
        app=app,
        services=offered,
        client=httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service.test"),
        store=store,
        publisher=publisher,
        unexpected=remembered.unexpected,
        answered=remembered.answered,
        not_ready=remembered.not_ready,
    )


@define
class _Remembered:
    unexpected: list[tuple[Exception, CorrelationId]] = field(factory=list)
    answered: list[Answered] = field(factory=list)
    not_ready: list[str] = field(factory=list)

    def on_unexpected(self, error: Exception, correlation: CorrelationId) -> None:
        self.unexpected.append((error, correlation))

    async def readiness(self) -> str | None:
        return self.not_ready[-1] if self.not_ready else None


def _authentication(publisher: KeyPublisher) -> Authentication:
    issuer = TrustedIssuer(
        issuer=ISSUER, audiences=(AUDIENCE,), algorithms=("RS256",), jwks_url=f"{ISSUER}/jwks.json"
    )
    return Authentication.by((issuer,), fetch=publisher, now_seconds=lambda: NOW_SECONDS)


def json_of(answer: httpx2.Response) -> dict[str, JsonValue]:
    """Return an answer's body exactly, which must be a JSON object."""
    value = parse_json(answer.content)
    assert isinstance(value, dict), answer.text
    return value


def text_member(answer: httpx2.Response, name: str) -> str:
    value = json_of(answer)[name]
    assert isinstance(value, str), answer.text
    return value


def problem_of(answer: httpx2.Response, status: int) -> dict[str, JsonValue]:
    """Return the problem of an answer, once its status, type and correlation id are as they always are."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = json_of(answer)
    assert problem["status"] == status
    assert problem["type"] == f"/problems/{problem['code']}"
    assert problem["correlationId"] == answer.headers["X-Correlation-Id"]
    assert problem["title"]
    assert problem["detail"]
    return problem
