"""How one contract is carried over HTTP, as the catalogue writes it."""

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import CompiledSchema
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_worker.deployment_values import Reference


@frozen(kw_only=True)
class NoAuthentication:
    """Calls carry no credentials."""


@frozen(kw_only=True)
class BearerToken:
    secret: Reference


@frozen(kw_only=True)
class BasicCredentials:
    username: str
    secret: Reference


@frozen(kw_only=True)
class ApiKeyHeader:
    header: str
    secret: Reference


type Authentication = NoAuthentication | BearerToken | BasicCredentials | ApiKeyHeader


@frozen(kw_only=True)
class Endpoint:
    """One host that may be called."""

    name: str
    base_url: Reference
    authentication: Authentication = field(factory=NoAuthentication)
    connections_max: int = 20


class ContractPart(StrEnum):
    """What of the pinned contract may be sent."""

    PROFILE = "profile"
    PROFILE_VERSION = "profileVersion"


@frozen(kw_only=True)
class FromInput:
    name: str


@frozen(kw_only=True)
class FromContract:
    part: ContractPart


@frozen(kw_only=True)
class FromAnswer:
    pointer: Pointer


@frozen(kw_only=True)
class Always:
    value: JsonValue


type RequestSource = FromInput | FromContract | Always
type AnswerSource = FromAnswer | Always


@frozen(kw_only=True)
class RequestFields:
    """The method, the path with its fields in braces, and the one source of each field; None is no body."""

    method: str
    path: str
    path_fields: Mapping[str, RequestSource] = field(factory=dict)
    query_fields: Mapping[str, RequestSource] = field(factory=dict)
    body_fields: Mapping[str, RequestSource] | None = None


@frozen(kw_only=True)
class ResultAnswer:
    """A business result: member by member, or (None) the answer's own members that the output schema names."""

    fields: Mapping[str, AnswerSource] | None = None

    @property
    def reads_body(self) -> bool:
        return self.fields is None or any(isinstance(source, FromAnswer) for source in self.fields.values())


@frozen(kw_only=True)
class NoEffectAnswer:
    """A refusal that comes before any effect."""


@frozen(kw_only=True)
class RetryableAnswer:
    proves_no_effect: bool = False


type AnswerMeaning = ResultAnswer | NoEffectAnswer | RetryableAnswer


@frozen(kw_only=True)
class Timeouts:
    """How long one attempt may take, in seconds: until connected, from the first byte sent to the last read, in all."""

    connect_seconds: float = 2.0
    answer_seconds: float = 10.0
    budget_seconds: float = 15.0


@frozen(kw_only=True)
class Route:
    """Everything that a call needs beside its inputs."""

    endpoint: Endpoint
    request: RequestFields
    answers: Mapping[int, AnswerMeaning] = field(factory=dict)
    output_schema: JsonValue
    output: CompiledSchema
    provider_reference: Pointer | None = None
    timeouts: Timeouts = field(factory=Timeouts)
    answer_bytes_max: int = 262_144
