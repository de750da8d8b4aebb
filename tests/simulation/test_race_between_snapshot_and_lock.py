"""Race 16 of the protocol, in its exact interleaving on PostgreSQL.

The old owner's checkpoint start is checked while its lease runs and committed after it has run out; in between, another
worker's claim has taken its snapshot, but not yet its lock. Two advisory locks hold both where the race needs them.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
from attrs import define, evolve, field
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness
from tests.simulation.postgres_stage import PostgresStage
from tests.simulation.scenarios import scenario
from tests.simulation.world import Unheard

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import LeaseLost
from orchestrator_domain.execution.attempt import ActionResult, Succeeded
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import EventKey, IdempotencyKey, LeaseOwner
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.request.acceptance import AcceptEventCommand, AnyRevision
from orchestrator_domain.testing.chain import ChainCatalogue
from orchestrator_domain.testing.examples import CLERK, fact_about, request_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import Attempt, ExecutionRunner
from orchestrator_domain.usecases.run_progress import RunEnded
from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.row_mapping import Row

_PAYING_TWICE = scenario(4)
# Nobody asks the provider here: the doubt itself is what the test looks at.
_UNASKED = ChainCatalogue(
    {action: evolve(contract, probe=None) for action, contract in _PAYING_TWICE.catalogue.contracts.items()}
)
_LEASE_SECONDS = 4.0
_COMMIT_HELD, _CLAIM_HELD = 1601, 1602

# A deferred trigger runs in COMMIT, after the last look at the lease. A row policy is asked of each row that a scan
# comes by, after the statement's snapshot and before its locks.
_HOLD = f"""
CREATE FUNCTION orchestrator.hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock({_COMMIT_HELD});
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON orchestrator.action_execution
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION orchestrator.hold_commit();
CREATE FUNCTION orchestrator.hold_claim() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') = 'claimer' THEN
    PERFORM pg_advisory_lock({_CLAIM_HELD});
    PERFORM pg_advisory_unlock({_CLAIM_HELD});
  END IF;
  RETURN true;
END $$;
ALTER TABLE orchestrator.execution ENABLE ROW LEVEL SECURITY;
CREATE POLICY hold_claim ON orchestrator.execution USING (orchestrator.hold_claim()) WITH CHECK (true);
"""

_CLAIM_IN_ONE_STATEMENT = b"""
WITH chosen AS (
  SELECT id FROM orchestrator.execution
  WHERE status = 'RUNNING' AND lease_until <= (SELECT clock_timestamp())
  FOR UPDATE SKIP LOCKED
),
marked AS (
  UPDATE orchestrator.execution AS execution
  SET
    fencing_token = execution.fencing_token + 1,
    lease_owner = 'new',
    lease_until = clock_timestamp() + interval '60 seconds'
  FROM chosen
  WHERE execution.id = chosen.id
  RETURNING execution.id, execution.fencing_token
)
SELECT marked.fencing_token, checkpoint.status AS checkpoint_status
FROM marked
LEFT JOIN orchestrator.action_execution AS checkpoint ON checkpoint.execution_id = marked.id
"""


@define
class Payments:
    """A provider that counts payments, and answers when it is told to."""

    made: int = 0
    began: asyncio.Event = field(factory=asyncio.Event)
    may_answer: asyncio.Event = field(factory=asyncio.Event)

    async def attempt(self, _: ActionDefinition, __: ActionContext) -> ActionResult:
        self.made += 1
        self.began.set()
        await self.may_answer.wait()
        return Succeeded(result={"value": 1})


@pytest.fixture
async def harness(database: TestDatabase) -> AsyncIterator[PostgresHarness]:
    """The ports on a database of the test's own."""
    async with PostgresHarness(database) as entered:
        yield entered


def runner(harness: PostgresHarness, attempt: Attempt) -> ExecutionRunner:
    return ExecutionRunner(
        queue=harness.queue(),
        flows=FlowLibrary(),
        published_flows=harness.published_flows(),
        catalogue=_UNASKED,
        attempt=attempt,
        evaluator=CompiledDecisionEvaluator(),
        identifiers=SequentialIdentifiers(seed=2),
        observer=Unheard(),
        limits=FlowLimits(),
    )


async def accept_payment(harness: PostgresHarness) -> None:
    """Accept an event whose first action is a payment that nobody may make twice."""
    stage, identifiers = PostgresStage(harness), SequentialIdentifiers(seed=1)
    await stage.publish(_PAYING_TWICE.flow)
    request = request_of(_PAYING_TWICE.flow, identifiers)
    await stage.create(request, fact_about(request, identifiers, kind=AuditKind.REQUEST_CREATED))
    command = AcceptEventCommand(
        request_id=request.id,
        event=EventKey("GO"),
        data={},
        key=IdempotencyKey("pay-1"),
        precondition=AnyRevision(),
    )
    accept = AcceptEvent(
        unit_of_work=harness.unit_of_work(),
        flows=FlowLibrary(),
        identifiers=identifiers,
        wakeup=Unheard(),
        observer=Unheard(),
    )
    await accept(command, CLERK)


async def hold(harness: PostgresHarness, *locks: int) -> None:
    for lock in locks:
        await harness.superuser.execute(b"SELECT pg_advisory_lock(%s)", (lock,))


async def let_go(harness: PostgresHarness, lock: int) -> None:
    await harness.superuser.execute(b"SELECT pg_advisory_unlock(%s)", (lock,))


async def until(harness: PostgresHarness, question: bytes, *parameters: object) -> None:
    """Ask the server again until it says yes."""
    async with asyncio.timeout(60):
        while not await says_yes(harness, question, *parameters):
            pass


async def says_yes(harness: PostgresHarness, question: bytes, *parameters: object) -> bool:
    (answer,) = await harness.rows(b"SELECT (" + question + b") AS yes", *parameters)
    return bool(answer["yes"])


_WAITS_FOR = (
    b"SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted)"
)
_NOBODY_HOLDS = b"SELECT bool_and(lease_until < clock_timestamp()) FROM orchestrator.execution"


async def raced[Claimed](
    harness: PostgresHarness, payments: Payments, claim: Coroutine[Any, Any, Claimed]
) -> tuple[asyncio.Task[RunEnded], Claimed]:
    """Let the old owner's start become visible between the claim's snapshot and its lock; return run and claim."""
    await harness.superuser.execute(_HOLD.encode())
    await hold(harness, _COMMIT_HELD, _CLAIM_HELD)
    (old,) = await harness.queue().claim(owner=LeaseOwner("old"), limit=1, lease_seconds=_LEASE_SECONDS)
    old_run = asyncio.create_task(runner(harness, payments.attempt).run(old))
    await until(harness, _WAITS_FOR, _COMMIT_HELD)
    await until(harness, _NOBODY_HOLDS)
    claiming = asyncio.create_task(claim)
    await until(harness, _WAITS_FOR, _CLAIM_HELD)
    await let_go(harness, _COMMIT_HELD)
    await payments.began.wait()
    await let_go(harness, _CLAIM_HELD)
    return old_run, await claiming


def claimer(harness: PostgresHarness) -> ConnectionSettings:
    return ConnectionSettings(url=harness.database.runtime_url, application_name="claimer")


async def test_a_start_committed_between_a_claims_snapshot_and_its_lock_is_not_repeated(
    harness: PostgresHarness,
) -> None:
    await accept_payment(harness)
    old_payments, new_payments = Payments(), Payments()
    async with PostgresExecutionQueue(claimer(harness), SequentialIdentifiers(seed=3)) as queue:
        claim = queue.claim(owner=LeaseOwner("new"), limit=1, lease_seconds=60.0)
        old_run, (claimed,) = await raced(harness, old_payments, claim)
    assert [(one.action, one.status, one.attempts) for one in claimed.checkpoints] == [
        ("pay", CheckpointStatus.RUNNING, 1)
    ]
    new_payments.may_answer.set()
    ended = await runner(harness, new_payments.attempt).run(claimed)
    assert (ended.status, ended.error_code) == (ExecutionStatus.RECONCILIATION_REQUIRED, "EFFECT_UNKNOWN")
    old_payments.may_answer.set()
    with pytest.raises(LeaseLost):
        await old_run
    assert (old_payments.made, new_payments.made) == (1, 0)


async def test_a_claim_that_reads_in_the_statement_that_locks_would_miss_that_start(
    harness: PostgresHarness,
) -> None:
    """Show that the interleaving is the one it is said to be: this claim is what the protocol forbids."""
    await accept_payment(harness)
    payments = Payments()
    connection = await connect(claimer(harness))

    async def claim_in_one_statement() -> list[Row]:
        return [*await (await connection.execute(_CLAIM_IN_ONE_STATEMENT)).fetchall()]

    async with connection:
        old_run, (claimed,) = await raced(harness, payments, claim_in_one_statement())
    assert (claimed["fencing_token"], claimed["checkpoint_status"]) == (2, None)
    assert payments.made == 1
    payments.may_answer.set()
    with pytest.raises(LeaseLost):
        await old_run
