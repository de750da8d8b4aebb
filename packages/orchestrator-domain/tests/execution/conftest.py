"""One accepted GO of the chain flow, before anything of it has run."""

import pytest

from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.execution.stepping import Run
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.identifiers import (
    EventKey,
    ExecutionId,
    IdempotencyKey,
    RequestId,
    Revision,
    Sha256Hex,
    StateKey,
    TransitionKey,
)
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_contracts, chain_document
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers


@pytest.fixture(scope="session")
def execution() -> Execution:
    identifiers = SequentialIdentifiers()
    return Execution(
        id=ExecutionId(identifiers.uuid()),
        request_id=RequestId(identifiers.uuid()),
        idempotency_key=IdempotencyKey("go-1"),
        payload_hash=Sha256Hex("a" * 64),
        actor=CLERK,
        event=EventKey("GO"),
        event_data={},
        transition=TransitionKey("go"),
        from_state=StateKey("OPEN"),
        accepted_revision=Revision(1),
    )


@pytest.fixture(scope="session")
def transition() -> Transition:
    return read_flow(chain_document()).transitions[0]


@pytest.fixture(scope="session")
def run(execution: Execution, transition: Transition) -> Run:
    """A fresh run of three actions that only read."""
    return Run(
        execution=execution,
        request_data={"item": "ladder"},
        transition=transition,
        contracts=chain_contracts(dict.fromkeys(CHAIN_ACTIONS, Effect.READ_ONLY)),
        checkpoints={},
    )
