"""A worker is stopped (SIGSTOP) at each kind of write until its lease is over and its work is another's (race 1).

Nothing of what it then sends is written, and it says that it has lost the lease.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from tests.durability.fault_flows import EffectClass, acting_twice
from tests.durability.struck_runs import SinceTheClaim
from tests.plugins.execution_evidence import LOOKUP, Evidence
from tests.plugins.fault_points import chosen
from tests.plugins.process_room import StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.statement_proxy import Side, StatementProxy, Strike

PAYMENTS = "/pagos/autorizaciones"


@frozen(kw_only=True)
class Write:
    """One kind of write: the number of the transaction that it is in, and how the first call ends before it."""

    name: str
    effect: EffectClass
    transaction: int
    answer: dict[str, Any] | None = None

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


WRITES = (
    Write(name="first start", effect=EffectClass.NON_IDEMPOTENT_WRITE, transaction=1),
    Write(name="end and start", effect=EffectClass.NON_IDEMPOTENT_WRITE, transaction=2),
    Write(name="completion", effect=EffectClass.NON_IDEMPOTENT_WRITE, transaction=3),
    Write(name="wait", effect=EffectClass.READ_ONLY, transaction=2, answer={"status": 503}),
    Write(name="failure", effect=EffectClass.READ_ONLY, transaction=2, answer={"status": 400}),
    Write(
        name="stop before an operator",
        effect=EffectClass.NON_IDEMPOTENT_WRITE,
        transaction=2,
        answer={"status": 500},
    ),
)


def transactions() -> Callable[[str], bool]:
    """Count the transactions that a run begins after its claim."""
    of_the_run = SinceTheClaim()
    return lambda statement: of_the_run(statement) and statement == "BEGIN"


def renewals(statement: str) -> bool:
    return "SET lease_until" in statement and "status = 'RUNNING'," not in statement


def test_a_worker_that_was_stopped_at_a_write_past_its_lease_writes_nothing(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
) -> None:
    (write,) = chosen("stop", WRITES, 1)
    require_nothing_written(api_alone, providers, fork_worker, statement_proxy, write)


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", WRITES, ids=str)
def test_a_worker_that_was_stopped_at_any_kind_of_write_past_its_lease_writes_nothing(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
    write: Write,
) -> None:
    require_nothing_written(api_alone, providers, fork_worker, statement_proxy, write)


def require_nothing_written(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
    write: Write,
) -> None:
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(acting_twice(write.effect)))
    if write.answer is not None:
        providers.script(LOOKUP if write.effect is EffectClass.READ_ONLY else PAYMENTS, write.answer)
    execution = analyst.start(request, "REGISTRAR")
    evidence = Evidence(service=api_alone, request_id=request, execution_id=execution)
    statement_proxy.begin(transactions(), Strike(number=write.transaction, side=Side.BEFORE))
    stopped = fork_worker(DATABASE_URL=statement_proxy.url, WORKER_POLL_MS="60000")
    statement_proxy.await_strike()

    taken_over = _while_it_is_stopped(api_alone, fork_worker, evidence, stopped.pid)

    statement_proxy.go_on()
    os.kill(stopped.pid, signal.SIGCONT)
    assert stopped.end() == 0
    assert evidence.everything() == taken_over
    assert '"lease_lost"' in stopped.log()
    assert evidence.history()


def test_a_worker_that_was_stopped_at_a_renewal_past_its_lease_renews_nothing(
    api_alone: RunningService,
    providers: ScriptedProviders,
    fork_worker: Callable[..., StartedProcess],
    statement_proxy: StatementProxy,
) -> None:
    analyst = api_alone.user()
    request = analyst.create(api_alone.offer(acting_twice(EffectClass.READ_ONLY)))
    execution = analyst.start(request, "REGISTRAR")
    evidence = Evidence(service=api_alone, request_id=request, execution_id=execution)
    providers.hold_next(LOOKUP)
    statement_proxy.begin(renewals, Strike(number=1, side=Side.BEFORE))
    stopped = fork_worker(
        DATABASE_URL=statement_proxy.url, WORKER_POLL_MS="60000", WORKER_RENEW_SECONDS="0.5"
    )
    providers.await_held()
    statement_proxy.await_strike()

    taken_over = _while_it_is_stopped(api_alone, fork_worker, evidence, stopped.pid)

    statement_proxy.go_on()
    os.kill(stopped.pid, signal.SIGCONT)
    providers.release()
    assert stopped.end() == 0
    assert evidence.everything() == taken_over


def _while_it_is_stopped(
    service: RunningService,
    fork_worker: Callable[..., StartedProcess],
    evidence: Evidence,
    stopped: int,
) -> dict[str, list[dict[str, Any]]]:
    """Stop a process, let its lease run out and another one end the execution; return what is stored then."""
    os.kill(stopped, signal.SIGSTOP)
    evidence.let_lease_expire()
    other = fork_worker()
    service.user().ended(evidence.execution_id)
    assert other.end() == 0
    return evidence.everything()
