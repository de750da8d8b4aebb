"""Runs that a fault strikes at one statement, the rest of which is left to another worker, and what must be true then."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen
from tests.durability.fault_flows import EffectClass, acting_twice
from tests.plugins.execution_evidence import Evidence
from tests.plugins.forked_process import WarmStart
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import Side, StatementProxy, Strike

_CLAIM = "claims_without_progress + 1"
_NOT_OF_A_RUN = ("LISTEN", "NOTIFY", "UNLISTEN")

# Whatever a batch sends at once fails, as if somebody held one of its rows, so that it is looked at row by row.
IN_THE_WAY = """
CREATE FUNCTION public.in_the_way() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_query() LIKE '%looked at row by row%' THEN
    RAISE invalid_text_representation USING MESSAGE = 'a test is in the way';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER in_the_way BEFORE INSERT OR UPDATE ON orchestrator.action_execution
  FOR EACH STATEMENT EXECUTE FUNCTION public.in_the_way()
"""
OUT_OF_THE_WAY = "DROP FUNCTION IF EXISTS public.in_the_way CASCADE"

type Fault = Callable[[StartedProcess, StatementProxy], None]


@define
class SinceTheClaim:
    """Count what a run sends, from its claim on: neither what a start asks, nor hints and looks at idle connections."""

    _claimed: bool = False

    def __call__(self, statement: str) -> bool:
        self._claimed = self._claimed or _CLAIM in statement
        return self._claimed and bool(statement) and not statement.startswith(_NOT_OF_A_RUN)


@frozen(kw_only=True)
class StruckRun:
    """One execution as its fault left it."""

    strike: Strike
    statement: str
    evidence: Evidence
    checkpoints: Mapping[str, tuple[str, int]]
    calls: Counter[str]

    def __str__(self) -> str:
        return f"{self.strike.side} statement {self.strike.number}, {self.statement[:80]}"


@define(kw_only=True)
class FaultyRuns:
    """Let executions of one flow be struck, one after the other, and then be brought to their ends together."""

    service: RunningService
    providers: ScriptedProviders
    warm: WarmStart
    proxy: StatementProxy
    effect: EffectClass
    fault: Fault
    _type_key: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._type_key = self.service.offer(acting_twice(self.effect))

    def recorded(self) -> list[Strike]:
        """Let one run pass, and return every place at which another could be struck."""
        evidence = self._accepted()
        self.proxy.begin(SinceTheClaim())
        worker = self._worker(self.proxy.url)
        assert self.service.user().ended(evidence.execution_id)["status"] == "SUCCEEDED"
        self.proxy.await_statement(lambda seen: sum(_CLAIM in each for each in seen) > 1)
        statements = [*self.proxy.statements]
        last = next(number for number, each in enumerate(statements) if number and _CLAIM in each)
        self.service.room.end(worker)
        return [Strike(number=number, side=side) for number in range(1, last + 2) for side in Side]

    def struck(self, strike: Strike) -> StruckRun:
        """Strike a run, and put aside what is left of it."""
        evidence = self._accepted()
        self.proxy.begin(SinceTheClaim(), strike)
        worker = self._worker(self.proxy.url)
        statement = self.proxy.await_strike()
        self.fault(worker, self.proxy)
        self.service.room.end(worker)
        run = StruckRun(
            strike=strike,
            statement=statement,
            evidence=evidence,
            checkpoints=evidence.checkpoints(),
            calls=self.calls(evidence),
        )
        self.service.database.execute(_PUT_ASIDE, evidence.execution_id)
        return run

    def brought_to_an_end(self, runs: Sequence[StruckRun]) -> None:
        """Let every lease and wait run out, and another worker take over."""
        self.service.database.execute(_TAKE_UP, [run.evidence.execution_id for run in runs])
        worker = self._worker(self.service.settings["DATABASE_URL"], WORKER_CONCURRENCY="10")
        for run in runs:
            self.service.user().ended(run.evidence.execution_id)
        self.service.room.end(worker)

    def calls(self, evidence: Evidence) -> Counter[str]:
        """Return how often each action was called, by name."""
        keys = [str(call["idempotencyKey"]) for call in self.providers.every_call()]
        own = [key.rpartition(":") for key in keys]
        return Counter(action for execution, _, action in own if execution == evidence.execution_id)

    def broken_promise(self, run: StruckRun) -> str | None:
        """Return what is wrong with a run that has ended, None if nothing is."""
        shown = self.service.user().execution(run.evidence.execution_id)
        calls, statuses = self.calls(run.evidence), dict(run.checkpoints)
        under_way = [status for status, _ in statuses.values() if status in ("RUNNING", "UNKNOWN")]
        doubtful = self.effect is EffectClass.NON_IDEMPOTENT_WRITE and bool(under_way)
        expected = "RECONCILIATION_REQUIRED" if doubtful else "SUCCEEDED"
        if shown["status"] != expected:
            return f"{shown['status']} instead of {expected}"
        if any(
            calls[action] != run.calls[action] for action in statuses if statuses[action][0] == "SUCCEEDED"
        ):
            return "an action that had SUCCEEDED was called again"
        if self.effect is EffectClass.NON_IDEMPOTENT_WRITE and max(calls.values(), default=0) > 1:
            return "an unsafe action was called twice"
        return self._untrue_record(run.evidence, expected)

    def _untrue_record(self, evidence: Evidence, status: str) -> str | None:
        end = "TRANSITION_COMPLETED" if status == "SUCCEEDED" else "RECONCILIATION_REQUIRED"
        # A flow that could not be read for a moment is read again later.
        kinds = [kind for kind in evidence.kinds() if kind != "ACTION_RETRY_SCHEDULED"]
        if kinds != ["REQUEST_CREATED", "EVENT_ACCEPTED", end]:
            return f"a history of {kinds}"
        if self._doubled_effects(evidence):
            return "an effect happened twice"
        state = self.service.user().shown(evidence.request_id)["state"]
        return None if (state == "REGISTRADA") is (status == "SUCCEEDED") else f"a request in {state}"

    def _doubled_effects(self, evidence: Evidence) -> bool:
        effects = Counter(
            call["idempotencyKey"] for call in self.providers.every_call() if call["effectApplied"]
        )
        own = {key: count for key, count in effects.items() if str(key).startswith(evidence.execution_id)}
        return max(own.values(), default=0) > 1

    def _accepted(self) -> Evidence:
        analyst = self.service.user()
        request = analyst.create(self._type_key)
        execution = analyst.start(request, "REGISTRAR")
        return Evidence(service=self.service, request_id=request, execution_id=execution)

    def _worker(self, url: str, **settings: str) -> StartedProcess:
        return self.warm.launch({**worker_settings(self.service, **settings), "DATABASE_URL": url})


def worker_settings(service: RunningService, **settings: str) -> dict[str, str]:
    """Return the variables of a worker that has one slot unless told otherwise."""
    own = {"WORKER_ENABLED": "true", "WORKER_POLL_MS": "50", "WORKER_CONCURRENCY": "1"}
    return {**service.settings, **own, **settings}


def broken_promises(runs: FaultyRuns, strikes: Sequence[Strike]) -> list[str]:
    """Strike a run at each place, bring all to their ends, and return what is wrong with them."""
    struck = [runs.struck(strike) for strike in strikes]
    runs.brought_to_an_end(struck)
    told = [(run, runs.broken_promise(run)) for run in struck]
    return [f"{run}: {broken}" for run, broken in told if broken is not None]


_PUT_ASIDE = """
UPDATE orchestrator.execution
SET next_attempt_at = next_attempt_at + interval '1 day', lease_until = lease_until + interval '1 day'
WHERE id = %s AND status IN ('PENDING', 'RUNNING', 'RETRY_WAIT')
"""

_TAKE_UP = """
UPDATE orchestrator.execution
SET next_attempt_at = clock_timestamp(), lease_until = lease_until - interval '2 days'
WHERE id = ANY (%s::uuid[]) AND status IN ('PENDING', 'RUNNING', 'RETRY_WAIT')
"""
