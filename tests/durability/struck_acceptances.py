"""Acceptances that a fault strikes at one statement, and that their clients repeat under the same key."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from tests.plugins.statement_proxy import Side, StatementProxy, Strike

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
