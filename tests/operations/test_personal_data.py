"""Data of a person passes through every path, failures included, and is found in no log, metric, trace or problem.

Paths are enumerated from the contract, which names exactly the routes there are, and from the type of what an attempt can
come to, so that a new route or a new outcome has to be put in here.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args
from uuid import uuid4

import httpx2
from attrs import evolve, frozen
from tests.acceptance.flows import registering, scoring, scoring_by
from tests.operations.delicate_data import (
    CLIENT,
    EMAIL,
    GUARDED,
    MEMBER,
    NAME,
    NEEDLES,
    SCORE,
    SICK,
    SUBJECT,
    UNREACHABLE,
    UNSET,
)
from tests.plugins.api_user import User
from tests.plugins.openapi_contract import Operation, openapi_contract
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.trace_collector import TraceCollector

from orchestrator_domain.execution import attempt
from orchestrator_domain.execution.attempt import ActionResult

BUREAU, PAYMENTS = "/buro/consultas", "/pagos/autorizaciones"
CONSENT = {"consentReference": f"CONSENT-{NAME}"}
DATA = {"clienteId": CLIENT}
GOOD = f'{{"score":{SCORE},"consultationId":"{NAME}"}}'
ALL_ROLES = (
    "ANALISTA",
    "AUDITOR",
    "EXECUTION_OPERATOR",
    "FLOW_EDITOR",
    "FLOW_PUBLISHER",
    "FLOW_ADMIN",
    "SOLICITANTE",
)


@frozen(kw_only=True)
class Scene:
    """A service with somebody delicate in it, and every problem that it told."""

    service: RunningService
    providers: ScriptedProviders
    problems: list[tuple[str, bytes]]

    @property
    def person(self) -> User:
        return self.service.user(SUBJECT, roles=ALL_ROLES)

    def request(self, integration: str = GUARDED, document: dict[str, Any] | None = None) -> str:
        flow = document or _asking(integration)
        return self.person.create(self.service.offer(flow), DATA if document is None else None)

    def run(self, integration: str = GUARDED, *answers: Mapping[str, Any]) -> dict[str, Any]:
        """Run an event that asks the bureau, which answers so."""
        if answers:
            self.providers.script(BUREAU, *answers)
        return self.person.run(self.request(integration), "VALIDAR_BURO", CONSENT)


# What an attempt comes to, and how it is brought about; each returns the error code that the execution then has.


def _succeeded(scene: Scene) -> str | None:
    return str(scene.run(GUARDED, {"status": 200, "rawBody": GOOD})["errorCode"])


def _unsent(scene: Scene) -> str | None:
    return str(scene.run(UNREACHABLE)["errorCode"])


def _parked(scene: Scene) -> str | None:
    scene.providers.script(BUREAU, {"status": 503, "rawBody": NAME})
    execution = scene.person.start(scene.request(SICK), "VALIDAR_BURO", CONSENT)

    def look() -> str | None:
        code = scene.person.execution(execution)["errorCode"]
        return str(code) if code == "CIRCUIT_OPEN" else None

    return wait_until("the circuit keeping the call away", look)


def _no_answer(scene: Scene) -> str | None:
    """Lose the answer of a payment, and let an operator resolve it: first wrongly, then with evidence and result."""
    scene.providers.script(PAYMENTS, {"mode": "drop_after_effect"})
    request = scene.request(document=registering("PAGO_AUTORIZA"))
    stopped = scene.person.run(request, "REGISTRAR", {"correo": EMAIL})
    assert stopped["status"] == "RECONCILIATION_REQUIRED"
    address = f"/admin/executions/{stopped['executionId']}"
    for result in ({"authorizationId": 4711, "correo": EMAIL}, {"authorizationId": NAME}):
        scene.person.call(
            "POST",
            f"{address}/resolve",
            {
                "resolution": "RESUME_WITH_RESULT",
                "actionId": "escribir",
                "result": result,
                "evidence": {"text": f"Told by {EMAIL}", "reference": NAME},
            },
            headers={"Idempotency-Key": str(uuid4())},
        )
    assert scene.person.ended(stopped["executionId"])["status"] == "SUCCEEDED"
    assert scene.person.call("GET", address).status_code == 200
    return str(stopped["errorCode"])


def _transient(scene: Scene) -> str | None:
    return str(scene.run(GUARDED, *[{"status": 503, "rawBody": GOOD}] * 3)["errorCode"])


def _refused(scene: Scene) -> str | None:
    return str(scene.run(GUARDED, {"status": 422, "rawBody": GOOD})["errorCode"])


def _unclear(scene: Scene) -> str | None:
    return str(scene.run(GUARDED, {"status": 418, "rawBody": f"<p>{EMAIL}</p>"})["errorCode"])


def _violated(scene: Scene) -> str | None:
    codes = {
        str(scene.run(GUARDED, {"status": 200, "rawBody": body})["errorCode"])
        for body in (
            f'{{"score":"{SCORE}","consultationId":"{NAME}","{MEMBER}":true}}',
            f'{{"score":{SCORE},"score":{SCORE}}}',
            f"<{EMAIL}>",
            json.dumps({"score": SCORE, "filler": NAME * 30_000}),
        )
    }
    (code,) = codes
    return code


def _unavailable(scene: Scene) -> str | None:
    return str(scene.run(UNSET)["errorCode"])


OUTCOMES: Mapping[type, tuple[Callable[[Scene], str | None], str]] = {
    attempt.Succeeded: (_succeeded, "None"),
    attempt.ProvenUnsent: (_unsent, "PROVIDER_UNREACHABLE"),
    attempt.Parked: (_parked, "CIRCUIT_OPEN"),
    attempt.NoWholeAnswer: (_no_answer, "PROVIDER_TIMEOUT"),
    attempt.Transient: (_transient, "PROVIDER_UNAVAILABLE"),
    attempt.Refused: (_refused, "PROVIDER_REJECTED"),
    attempt.UnclearRefusal: (_unclear, "PROVIDER_REJECTED"),
    attempt.ContractViolated: (_violated, "CONTRACT_VIOLATION"),
    attempt.Unavailable: (_unavailable, "INTEGRATION_UNAVAILABLE"),
}


def test_every_outcome_that_an_attempt_can_have_is_brought_about() -> None:
    assert set(get_args(ActionResult.__value__)) == OUTCOMES.keys()


def test_no_log_metric_trace_or_problem_holds_anything_of_a_person(
    watched: RunningService, providers: ScriptedProviders, collector: TraceCollector
) -> None:
    problems: list[tuple[str, bytes]] = []

    def keep(answer: httpx2.Response) -> None:
        if answer.status_code >= 400:
            problems.append((f"{answer.request.method} {answer.status_code}", answer.read()))

    with httpx2.Client(timeout=30.0, trust_env=False, event_hooks={"response": [keep]}) as http:
        scene = Scene(service=evolve(watched, http=http), providers=providers, problems=problems)
        for bring_about, code in OUTCOMES.values():
            assert bring_about(scene) == code
        _let_rules_fail(scene)
        _let_the_database_fail(scene)
        _send_to_every_route(scene)
    exposition = httpx2.get(f"{watched.process.said['managementUrl']}/metrics", trust_env=False).text
    collector.named_now("run execution", at_least=len(OUTCOMES))

    told = [
        ("log", watched.process.log()),
        ("metrics", exposition),
        ("traces", b"".join(collector.received).decode("latin-1")),
        *((f"problem of {name}", body.decode()) for name, body in problems),
    ]
    tokens = [token.rpartition(".")[2] for token in scene.service.tokens]
    for place, text in told:
        ours = () if place.startswith("problem") else (MEMBER,)
        for needle in (*NEEDLES, *ours, *tokens, "Bearer ey", "Traceback"):
            assert needle.lower() not in text.lower(), f"{needle} is in the {place}"
    # The search had something to search: every kind of failure was told, by its code.
    assert {status.split()[1] for status, _ in problems} >= {"400", "401", "403", "404", "409", "422", "500"}
    for told_as in ("worker_disturbed", "unexpected", *{code for _, code in OUTCOMES.values()} - {"None"}):
        assert told_as in watched.process.log()
    for metric in ("commands_refused", "action_retries", "circuit_state", "resolutions", "http_problems"):
        assert f"orchestrator_{metric}" in exposition


def _asking(integration: str) -> dict[str, Any]:
    flow = scoring()
    (transition,) = flow["transitions"]
    transition["actions"][0]["integrationKey"] = integration
    return flow


def _let_rules_fail(scene: Scene) -> None:
    """Let a decision find two answers, a guard find nothing to compare, and data break their schema."""

    def above(identifier: str, threshold: Any) -> dict[str, Any]:
        when = {"op": "GT", "left": {"path": "/results/buro/score"}, "right": threshold}
        return {"id": identifier, "when": when, "output": "N"}

    by_data = [above("uno", {"path": "/request/data/umbral"}), above("dos", {"path": "/request/data/otro"})]
    flow = scoring_by([*by_data, {**above("tres", {"literal": 999}), "output": "M"}])
    for data, code in (
        ({"umbral": 1, "otro": 2}, "AMBIGUOUS_DECISION"),
        ({"umbral": EMAIL, "otro": 2}, "EVALUATION_ERROR"),
    ):
        scene.providers.script(BUREAU, {"status": 200, "rawBody": GOOD})
        request = scene.person.create(scene.service.offer(flow), {**DATA, **data})
        assert scene.person.run(request, "VALIDAR_BURO", CONSENT)["errorCode"] == code
    request = scene.request()
    assert (
        scene.person.send(request, "VALIDAR_BURO", {"consentReference": 4711, MEMBER: EMAIL}).status_code
        == 422
    )
    assert scene.person.send(request, NAME, {"correo": EMAIL}).status_code == 409
    colleague = scene.service.user(f"otra-{NAME}", roles=(NAME,))
    assert colleague.send(request, "VALIDAR_BURO", CONSENT, tag="*").status_code == 403
    nobody = scene.service.user(f"otra-{NAME}", roles=(NAME,), scopes=(NAME,))
    assert nobody.send(request, "VALIDAR_BURO", CONSENT, tag="*").status_code == 404


def _let_the_database_fail(scene: Scene) -> None:
    """Let the database refuse a creation and a completion, and say what it refused."""
    database = scene.service.database
    database.execute(
        "CREATE FUNCTION public.tell_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" RAISE EXCEPTION '{EMAIL}' USING ERRCODE = TG_ARGV[0], DETAIL = 'Key (email)=({EMAIL})',"
        f" HINT = '{NAME}'; END $$"
    )
    type_key = scene.service.offer(_asking(GUARDED))
    for code in ("unique_violation", "check_violation", "P0001", "22P02"):
        trigger = "CREATE TRIGGER tell_all BEFORE INSERT ON orchestrator.request_instance FOR EACH ROW"
        database.execute(f"{trigger} EXECUTE FUNCTION public.tell_all('{code}')")
        assert scene.person.try_to_create(type_key, DATA).status_code == 500
        database.execute("DROP TRIGGER tell_all ON orchestrator.request_instance")
    request = scene.request()
    database.execute(
        "CREATE TRIGGER tell_all BEFORE UPDATE ON orchestrator.execution FOR EACH ROW"
        " WHEN (NEW.status = 'SUCCEEDED') EXECUTE FUNCTION public.tell_all('P0001')"
    )
    scene.providers.script(BUREAU, {"status": 200, "rawBody": GOOD})
    execution = scene.person.start(request, "VALIDAR_BURO", CONSENT)
    wait_until("the worker telling of the fault", lambda: _is_told(scene.service, execution))
    database.execute("DROP TRIGGER tell_all ON orchestrator.execution")
    database.execute("DROP FUNCTION public.tell_all()")


def _is_told(service: RunningService, execution: str) -> bool:
    lines = service.process.log().splitlines()
    return any("worker_disturbed" in line and execution in line for line in lines)


def _send_to_every_route(scene: Scene) -> None:
    """Send what is delicate in every place that a request has, as nobody, as a liar, and as somebody with every role."""
    liar = evolve(scene.person, token=f"eyJhbGciOiJub25lIn0.{NAME}.{NAME}")
    for operation in openapi_contract().operations():
        for sender in (scene.service.stranger(), liar, scene.person):
            for body in _bodies(operation):
                _send(sender, operation, body)


def _send(sender: User, operation: Operation, body: bytes | None) -> None:
    headers = {
        "Idempotency-Key": NAME,
        "If-Match": f'"{NAME}"',
        "X-Correlation-Id": f"{NAME} {EMAIL}",
        "Cookie": f"name={NAME}",
        "User-Agent": EMAIL,
    }
    if sender.token is not None:
        headers["Authorization"] = f"Bearer {sender.token}"
    if body is not None:
        headers["Content-Type"] = "application/json"
    path = "/".join(NAME if part.startswith("{") else part for part in operation.path.split("/"))
    query = f"?cursor={NAME}&{MEMBER}={EMAIL}"
    sender.http.request(operation.method, f"{sender.api_url}{path}{query}", content=body, headers=headers)


def _bodies(operation: Operation) -> Iterator[bytes | None]:
    if "requestBody" not in operation.content:
        yield None
        return
    yield f'{{"{MEMBER}": "{EMAIL}'.encode()
    yield json.dumps({MEMBER: EMAIL}).encode()
    yield json.dumps(
        {"typeKey": NAME, "event": NAME, "data": {"correo": EMAIL}, "flowKey": NAME, "flowId": EMAIL}
    ).encode()
