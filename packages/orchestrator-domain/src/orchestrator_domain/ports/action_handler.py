"""The port of a capability that transitions can use."""

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import ActionResult, Parked
from orchestrator_domain.execution.probe import ProbeResult
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import (
    BusinessScope,
    CorrelationId,
    ExecutionId,
    FencingToken,
    RequestId,
    Subject,
)


@frozen(kw_only=True)
class ActionContext:
    """What one attempt may know: resolved inputs, minimal identity, and the keys that make it repeatable.

    `external_key` is the same in every attempt of this action. `inputs` satisfy the contract's input schema.
    """

    execution_id: ExecutionId
    request_id: RequestId
    owner: Subject
    scope: BusinessScope
    actor: Subject
    inputs: JsonObject
    external_key: str
    fencing_token: FencingToken
    attempt: int
    contract: ActionContract
    correlation_id: CorrelationId | None = None


class ActionHandler(Protocol):
    """Carry out one type of action.

    Promises: `execute` makes at most one attempt and answers with its ActionResult, whatever the provider does. It
    ends within `contract.budget_seconds`. A plain function may block: it is run in a thread of its own. An exception
    counts as an attempt of which nothing is known.
    """

    @property
    def type(self) -> str: ...

    def execute(
        self, definition: ActionDefinition, context: ActionContext
    ) -> Awaitable[ActionResult] | ActionResult: ...


@runtime_checkable
class HoldsBack(Protocol):
    """Say of an action, before its start is stored, that an attempt isn't worth making now.

    Promises: `held` answers at once, calls nothing and takes nothing; an attempt that it lets through may still come
    back as Parked.
    """

    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None: ...


@runtime_checkable
class ProbesEffects(Protocol):
    """Find out whether an effect in doubt happened.

    Promises: `probe` asks once, changes nothing anywhere, and ends within `contract.budget_seconds`. It answers
    Confirmed only for the call that was made under `external_key`. An exception counts as an answer that says nothing.
    """

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult: ...
