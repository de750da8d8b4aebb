"""What the trusted catalogue promises about an action: its effect, its schemas and how often it may be tried.

The classification comes from the catalogue, never from an editable flow (specification, section 9).
"""

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property

from attrs import field, frozen

from orchestrator_domain.exact_json.schema import CompiledSchema, compile_schema
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import Sha256Hex


class Effect(StrEnum):
    """Say what one more call may do to the world."""

    READ_ONLY = "READ_ONLY"
    IDEMPOTENT_WRITE = "IDEMPOTENT_WRITE"
    NON_IDEMPOTENT_WRITE = "NON_IDEMPOTENT_WRITE"


@frozen(kw_only=True)
class RetryContract:
    """Bound the attempts of one action. All times in seconds.

    The wait before attempt n + 1 is `backoff_seconds * 2 ** (n - 1)`, at most `backoff_max_seconds`, and then jittered
    by ±25 %; a provider's Retry-After may lengthen it up to `retry_after_max_seconds`. What isn't worth trying waits
    without counting as an attempt until the action's first start is `parked_seconds_max` ago.
    """

    attempts_max: int = 3
    backoff_seconds: float = 2.0
    backoff_max_seconds: float = 60.0
    retry_after_max_seconds: float = 300.0
    parked_seconds_max: float = 3600.0


@frozen(kw_only=True)
class ProbeContract:
    """Bound the status queries of one action whose effect is in doubt. All times in seconds.

    The first one is asked at once, the next after `backoff_seconds`, and then each after as long again as the doubt has
    lasted, until it has lasted for `ask_for_seconds`: then somebody else has to find out.
    """

    ask_for_seconds: float = 600.0
    backoff_seconds: float = 5.0


@frozen(kw_only=True)
class ActionContract:
    """One version of what an action takes, gives and does.

    `budget_seconds` bounds a whole attempt and is below the lease. `key_memory_seconds` is how long the provider
    remembers an idempotency key (None: forever). `registers_document` says that a VALID result links a document.
    `probe` is there if a status query can confirm an effect that is in doubt; it is bounded by `budget_seconds` too.
    """

    action_type: str
    integration_key: str | None = None
    contract_version: int
    profile: str | None = None
    profile_version: int | None = None
    checksum: Sha256Hex
    effect: Effect
    input_schema: JsonValue
    output_schema: JsonValue
    retry: RetryContract = field(factory=RetryContract)
    budget_seconds: float = 30.0
    key_memory_seconds: float | None = None
    registers_document: bool = False
    probe: ProbeContract | None = None

    @cached_property
    def input_validator(self) -> CompiledSchema:
        """Return the input schema, compiled once per contract."""
        return compile_schema(self.input_schema)

    @cached_property
    def output_validator(self) -> CompiledSchema:
        return compile_schema(self.output_schema)


@frozen(kw_only=True)
class ContractFault:
    """Why an action can't be given a contract: a finding's code, place (relative to the action) and sentence."""

    code: str
    pointer: str
    message: str
    suggestion: str | None = None


type ResolveContract = Callable[[ActionDefinition], ActionContract | tuple[ContractFault, ...]]
