"""The protocol's table of outcomes, whole: status, body and timing of an answer under each effect, over a real connection.

Each case is one accepted event whose run meets one behaviour of the provider. What it leaves behind is compared with
the table as the protocol writes it: the execution's status and code, the checkpoint, and the request.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import define
from tests.plugins.lending_catalogue import LOOKUP, catalogue_file, contract_of, deployed, lookup_integration
from tests.plugins.misbehaving_provider import (
    Behaviour,
    MisbehavingProvider,
    answering,
    misbehaving_provider,
    reset_after_reading,
    response,
)
from tests.plugins.outcome_cases import CASES, DONE, FAILS, FOUND, PATIENT, STOPS, SUCCESS, WAITS, Case, End

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import LeaseOwner, Sha256Hex
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import TYPE_KEY, admin_fact, pinned_contract, request_type
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.handlers import HandlerRegistry
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.provider_client import ProviderClient

READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE


@define
class Desk:
    """The store, the runner and the provider, without a worker's loop around them."""

    provider: MisbehavingProvider
    harness: InMemoryHarness
    cases: StoredCases
    runner: ExecutionRunner
    execution: Execution

    async def run(self) -> None:
        """Let the wait be over and run once."""
        await self.harness.make_due(self.execution.id)
        (claimed,) = await self.harness.queue().claim(owner=LeaseOwner("host:1:a"), limit=1, lease_seconds=60)
        await self.runner.run(claimed)

    async def end(self) -> tuple[End, str | None]:
        """Return how the last run left things, and under which code."""
        execution = await self.cases.seen_execution(self.execution.id)
        (checkpoint,) = await self.harness.checkpoints(self.execution.id)
        end = (execution.status.value, checkpoint.status.value, checkpoint.uncertain)
        return end, execution.error_code

    async def attempts(self) -> int:
        (checkpoint,) = await self.harness.checkpoints(self.execution.id)
        return checkpoint.attempts

    async def state(self) -> tuple[str, object]:
        seen = await self.cases.seen(self.execution.request_id)
        return seen.request.state, seen.request.data.get("lookup")


@asynccontextmanager
async def desk_of(
    effect: Effect, *behaviours: Behaviour, endpoint: dict[str, Any] | None = None, **contract: Any
) -> AsyncIterator[Desk]:
    async with misbehaving_provider() as provider, ProviderClient(values=DeploymentValues()) as client:
        provider.script(*behaviours)
        memory = {"keyMemorySeconds": None} if effect is IDEMPOTENT else {}
        entry = lookup_integration(
            **{"effect": effect.value, "timeouts": PATIENT, "retry": {"attemptsMax": 2}, **memory, **contract}
        )
        place = {
            "baseUrl": provider.base_url,
            "authentication": {"kind": "none"},
            "allowedNetworks": ["127.0.0.0/8"],
            **(endpoint or {}),
        }
        catalogue = deployed(catalogue_file(entry, endpoints={"inventory": place}))
        harness, observer = InMemoryHarness(), RecordingObserver()
        cases = StoredCases(harness=harness)
        calls = HeldCalls(client, clock=lambda: harness.clock.now().timestamp())
        handler = InvokeIntegration(route_for=catalogue.route_for, client=calls, now=_now)
        registry = HandlerRegistry([handler], observer=observer)
        runner = ExecutionRunner(
            queue=harness.queue(),
            flows=FlowLibrary(),
            published_flows=harness.published_flows(),
            catalogue=catalogue,
            attempt=registry.attempt,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=cases.identifiers,
            observer=observer,
            limits=FlowLimits(),
        )
        yield Desk(provider, harness, cases, runner, await _accepted(cases, harness, catalogue))
        registry.close()


async def _accepted(cases: StoredCases, harness: InMemoryHarness, catalogue: DeployedCatalogue) -> Execution:
    draft = await cases.draft()
    pins = (pinned_contract(contract_of(catalogue, LOOKUP)),)
    flow = draft.published(checksum=Sha256Hex(sha256_hex(draft.document)), contracts=pins)

    async def story(transaction: Transaction) -> None:
        fact = admin_fact("FLOW_ACTIVATED", flow_id=flow.id, type_key=TYPE_KEY)
        saved = await transaction.flows.save(flow, before=draft.revision, fact=fact)
        await transaction.request_types.add(request_type(saved), fact)

    await harness.unit_of_work().run(story)
    return await cases.accepted()


def _now() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_an_attempt_with_others_left_ends_by_the_table(case: Case, effect: Effect) -> None:
    async with desk_of(effect, case.behaviour, endpoint=case.endpoint, **case.contract) as desk:
        await desk.run()
        assert await desk.end() == (case.row.left[list(Effect).index(effect)], case.code)
        assert len(desk.provider.requests) <= 1
        assert desk.provider.connections == (1 if case.is_sent else 0)
        if case.row is not SUCCESS:
            assert await desk.state() == ("OPEN", None)


LAST = [case for case in CASES if case.row.last != case.row.left and "result" not in case.name]


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("case", LAST, ids=lambda case: case.name)
async def test_a_last_attempt_ends_by_the_table(case: Case, effect: Effect) -> None:
    contract = {**case.contract, "retry": {"attemptsMax": 1}}
    async with desk_of(effect, case.behaviour, endpoint=case.endpoint, **contract) as desk:
        await desk.run()
        assert await desk.end() == (case.row.last[list(Effect).index(effect)], case.code)
        assert await desk.state() == ("OPEN", None)


# An answer speaks of its own attempt only: doubt about an earlier one is settled by a success alone.

SECOND = {
    "success": (FOUND, DONE, DONE),
    "refusal": (answering(response(422)), FAILS, STOPS),
    "authentication": (answering(response(401)), FAILS, STOPS),
    "unclear": (answering(response(500)), FAILS, STOPS),
    "exhausted": (answering(response(503)), FAILS, STOPS),
    "broken": (answering(response(200)), FAILS, STOPS),
}


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("effect", [READ, IDEMPOTENT])
async def test_only_a_success_settles_the_doubt_about_an_earlier_attempt(effect: Effect, second: str) -> None:
    behaviour, read, idempotent = SECOND[second]
    async with desk_of(effect, reset_after_reading, behaviour) as desk:
        await desk.run()
        await desk.run()
        end, _ = await desk.end()
        assert end == (read if effect is READ else idempotent)
        keys = {request.headers["idempotency-key"] for request in desk.provider.requests}
        assert keys == {f"{desk.execution.id}:lookup"}


async def test_what_was_proven_unsent_leaves_even_an_unsafe_write_to_be_tried_again() -> None:
    proven = {"503": {"kind": "retryable", "provesNoEffect": True}}
    async with desk_of(UNSAFE, answering(response(503)), FOUND, answers=proven) as desk:
        await desk.run()
        await desk.run()
        assert await desk.end() == (DONE, None)
        assert await desk.state() == ("LENT", {"found": True, "shelf": "4"})


async def test_a_key_that_may_be_forgotten_makes_an_idempotent_write_unsafe() -> None:
    async with desk_of(IDEMPOTENT, reset_after_reading, FOUND, keyMemorySeconds=60) as desk:
        await desk.run()
        desk.harness.clock.advance(61)
        await desk.run()
        assert (await desk.end())[0] == STOPS
        assert len(desk.provider.requests) == 1


@pytest.mark.parametrize("effect", list(Effect))
async def test_an_open_circuit_parks_without_using_up_attempts_until_an_hour_has_passed(
    effect: Effect,
) -> None:
    answers = {"503": {"kind": "retryable", "provesNoEffect": True}}
    circuit = {"circuitBreaker": {"failuresToOpen": 1, "openSeconds": 3600, "openMaxSeconds": 3600}}
    retry = {"attemptsMax": 3}
    busy = answering(response(503))
    async with desk_of(effect, busy, FOUND, answers=answers, endpoint=circuit, retry=retry) as desk:
        await desk.run()
        for _ in range(4):
            await desk.run()
            assert await desk.end() == (WAITS, "CIRCUIT_OPEN")
            assert await desk.attempts() == 1
        assert len(desk.provider.requests) == 1
        desk.harness.clock.advance(3601)
        await desk.run()
        assert await desk.end() == (DONE, None)
        assert await desk.attempts() == 2


@pytest.mark.parametrize("effect", list(Effect))
async def test_a_circuit_that_stays_open_uses_up_attempts_once_parking_has_lasted_its_time(
    effect: Effect,
) -> None:
    answers = {"503": {"kind": "retryable", "provesNoEffect": True}}
    circuit = {"circuitBreaker": {"failuresToOpen": 1, "openSeconds": 3600, "openMaxSeconds": 3600}}
    retry = {"attemptsMax": 3, "parkedMaxSeconds": 60}
    busy = answering(response(503))
    async with desk_of(effect, busy, answers=answers, endpoint=circuit, retry=retry) as desk:
        await desk.run()
        desk.harness.clock.advance(61)
        await desk.run()
        assert (await desk.end(), await desk.attempts()) == ((WAITS, "CIRCUIT_OPEN"), 2)
        await desk.run()
        assert (await desk.end(), await desk.attempts()) == ((FAILS, "CIRCUIT_OPEN"), 3)
        assert len(desk.provider.requests) == 1
