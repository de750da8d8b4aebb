"""Acceptances that a fault strikes at one statement, and that their clients repeat under the same key."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
from attrs import define, evolve, field, frozen
from tests.durability.fault_flows import EffectClass, acting_twice
from tests.durability.struck_runs import worker_settings
from tests.plugins.api_user import User, exact
from tests.plugins.execution_evidence import Evidence
from tests.plugins.forked_process import WarmStart
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import PATIENCE_SECONDS, Side, StatementProxy, Strike

from orchestrator_domain.exact_json.text import dump_json

_TOGETHER = 3
_TRANSACTIONS = """
SELECT count(DISTINCT xmin::text) FROM orchestrator.execution WHERE request_id = ANY (%s::uuid[])
"""

type Fault = Callable[[StartedProcess, StatementProxy], None]


@frozen(kw_only=True)
class StruckAcceptance:
    """One event, the key that it was sent under, and what its client was told at first, if anything."""

    strike: Strike
    statement: str
    request: str
    key: str
    told: str | None

    def __str__(self) -> str:
        return f"{self.strike.side} statement {self.strike.number}, {self.statement[:80]}"


def of_an_acceptance(statement: str) -> bool:
    """Count what an acceptance sends: neither hints nor looks at idle connections."""
    return bool(statement) and not statement.startswith(("LISTEN", "NOTIFY", "UNLISTEN"))


@define
class FromTheNextTransaction:
    """Count what an acceptance sends, from the next BEGIN on."""

    _begun: bool = False

    def __call__(self, statement: str) -> bool:
        self._begun = self._begun or statement == "BEGIN"
        return self._begun and of_an_acceptance(statement)


@define(kw_only=True)
class SentTogether:
    """Events on connections of their own, sent without waiting for an answer."""

    user: User
    requests: list[str]
    keys: list[str] = field(factory=list)
    _connections: list[HTTPConnection] = field(factory=list)

    def send(self, count: int) -> None:
        """Send the event of the next so many requests, and return when the API has taken all of them up."""
        for _ in range(count):
            self._send(self.requests[len(self.keys)])
        # A process answers in the order of arrival: what came before these reads is under way by now.
        for _ in range(2):
            assert self.user.call("GET", "/requests/no-id").status_code == 404

    def told(self) -> list[str | None]:
        """Return which execution each client was told of, if any."""
        return [_told(connection) for connection in self._connections]

    def _send(self, request: str) -> None:
        self.keys.append(str(uuid4()))
        connection = HTTPConnection(urlsplit(self.user.api_url).netloc, timeout=PATIENCE_SECONDS)
        lines = {"Authorization": f"Bearer {self.user.token}", "Content-Type": "application/json"}
        lines |= {"Idempotency-Key": self.keys[-1], "If-Match": "*"}
        body = dump_json({"event": "REGISTRAR", "data": {}})
        connection.request("POST", f"/api/v1/requests/{request}/events", body, lines)
        self._connections.append(connection)


def _told(connection: HTTPConnection) -> str | None:
    try:
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return str(json.loads(content)["executionId"]) if answer.status == 202 else None


@define(kw_only=True)
class FaultyAcceptances:
    """Let the acceptance of an event be struck, in a process of its own each time."""

    service: RunningService
    providers: ScriptedProviders
    warm: WarmStart
    proxy: StatementProxy
    fault: Fault
    _type_key: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._type_key = self.service.offer(acting_twice(EffectClass.NON_IDEMPOTENT_WRITE))

    def recorded(self) -> list[Strike]:
        """Let one event be accepted, and return every place at which another could be struck."""
        api, request = self._api(), self.service.user().create(self._type_key)
        self._user_of(api).shown(request)
        self.proxy.begin(of_an_acceptance)
        assert self._sent(api, request, str(uuid4())) is not None
        statements = [*self.proxy.statements]
        self.service.room.end(api)
        return [Strike(number=number, side=side) for number in range(1, len(statements) + 1) for side in Side]

    def struck(self, strike: Strike) -> StruckAcceptance:
        """Strike one acceptance."""
        api, request, key = self._api(), self.service.user().create(self._type_key), str(uuid4())
        self._user_of(api).shown(request)
        self.proxy.begin(of_an_acceptance, strike)
        with ThreadPoolExecutor(max_workers=1) as client:
            telling = client.submit(self._sent, api, request, key)
            statement = self.proxy.await_strike()
            self.fault(api, self.proxy)
            told = telling.result()
        self.service.room.end(api)
        return StruckAcceptance(strike=strike, statement=statement, request=request, key=key, told=told)

    def recorded_together(self) -> list[Strike]:
        """As `recorded`, of events that share a transaction."""
        sent, api = self._sent_together(None)
        assert all(told is not None for told in sent.told())
        (transactions,) = self.service.database.execute(_TRANSACTIONS, sent.requests[1:])
        assert transactions == (1,), "what was ready at one moment shares a transaction"
        statements = [*self.proxy.statements]
        self.service.room.end(api)
        return [Strike(number=number, side=side) for number in range(1, len(statements) + 1) for side in Side]

    def struck_together(self, strike: Strike) -> list[StruckAcceptance]:
        """Strike the acceptance of several events at once."""
        sent, api = self._sent_together(strike)
        statement = self.proxy.await_strike()
        self.fault(api, self.proxy)
        told = sent.told()
        self.service.room.end(api)
        return [
            StruckAcceptance(strike=strike, statement=statement, request=request, key=key, told=each)
            for request, key, each in zip(sent.requests, sent.keys, told, strict=True)
        ]

    def _sent_together(self, strike: Strike | None) -> tuple[SentTogether, StartedProcess]:
        """Hold the acceptance of a first event until others are ready, which then share the next transaction."""
        api = self._api()
        user = self._user_of(api)
        sent = SentTogether(user=user, requests=[user.create(self._type_key) for _ in range(1 + _TOGETHER)])
        self.proxy.begin(of_an_acceptance, Strike(number=1, side=Side.BEFORE))
        sent.send(1)
        self.proxy.await_strike()
        sent.send(_TOGETHER)
        self.proxy.begin(FromTheNextTransaction(), strike)
        return sent, api

    def broken_promises(self, struck: Sequence[StruckAcceptance]) -> list[str]:
        """Repeat every event, let a worker carry all of them out, and return what is wrong."""
        repeated = [self._repeated(each) for each in struck]
        worker = self.warm.launch(worker_settings(self.service, WORKER_CONCURRENCY="10"))
        for each in repeated:
            self.service.user().ended(each.execution_id)
        self.service.room.end(worker)
        told = [(each, self._broken(each, end)) for each, end in zip(struck, repeated, strict=True)]
        return [f"{each}: {broken}" for each, broken in told if broken is not None]

    def _repeated(self, struck: StruckAcceptance) -> Evidence:
        answer = self.service.user().send(struck.request, "REGISTRAR", key=struck.key, tag="*")
        assert answer.status_code == 202, f"{struck}: {answer.text}"
        execution = str(exact(answer)["executionId"])
        return Evidence(service=self.service, request_id=struck.request, execution_id=execution)

    def _broken(self, struck: StruckAcceptance, evidence: Evidence) -> str | None:
        if struck.told not in (None, evidence.execution_id):
            return "the repeated event is another execution"
        if evidence.kinds() != ["REQUEST_CREATED", "EVENT_ACCEPTED", "TRANSITION_COMPLETED"]:
            return f"a history of {evidence.kinds()}"
        keys = [str(call["idempotencyKey"]) for call in self.providers.every_call()]
        own = sorted(key for key in keys if key.startswith(evidence.execution_id))
        expected = [f"{evidence.execution_id}:{action}" for action in ("first", "second")]
        return None if own == expected else f"calls of {own}"

    def _api(self) -> StartedProcess:
        settings = {**self.service.settings, "DATABASE_URL": self.proxy.url, "REQUEST_API_ENABLED": "true"}
        return self.warm.start(settings)

    def _user_of(self, api: StartedProcess) -> User:
        return evolve(self.service.user(), api_url=str(api.said["apiUrl"]))

    def _sent(self, api: StartedProcess, request: str, key: str) -> str | None:
        """Send the event, and return the execution that the client is told of."""
        try:
            answer = self._user_of(api).send(request, "REGISTRAR", key=key, tag="*")
        except httpx2.TransportError:
            return None
        return str(exact(answer)["executionId"]) if answer.status_code == 202 else None
