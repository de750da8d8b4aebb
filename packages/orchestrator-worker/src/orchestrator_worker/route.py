"""How one contract is carried over HTTP, as the catalogue writes it."""

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import CompiledSchema
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_worker.address_check import Network
from orchestrator_worker.circuit_breaker import CircuitSettings
from orchestrator_worker.deployment_values import FromFile, Reference


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


class ClientAuthentication(StrEnum):
    """How a client shows its secret to the authorization server (RFC 6749, section 2.3.1)."""

    BASIC = "basic"
    BODY = "body"


@frozen(kw_only=True)
class ClientCredentials:
    """A token that the authorization server hands out to this client (RFC 6749, section 4.4)."""

    token_url: Reference
    client_id: str
    secret: Reference
    scope: str | None = None
    client_authentication: ClientAuthentication = ClientAuthentication.BASIC


type Authentication = NoAuthentication | BearerToken | BasicCredentials | ApiKeyHeader | ClientCredentials


@frozen(kw_only=True)
class ClientCertificate:
    """What this client shows in the TLS handshake: PEM files of the certificate chain and of its key."""

    certificate: FromFile
    key: FromFile


@frozen(kw_only=True)
class Endpoint:
    """One host that may be called.

    `networks` are those beside the public ones that its addresses may lie in; `authorities` (PEM) are trusted instead
    of the system's. With `allow_plain_http` calls may go unencrypted to another machine.
    """

    name: str
    base_url: Reference
    authentication: Authentication = field(factory=NoAuthentication)
    connections_max: int = 20
    networks: tuple[Network, ...] = ()
    client_certificate: ClientCertificate | None = None
    authorities: Reference | None = None
    allow_plain_http: bool = False
    circuit: CircuitSettings = field(factory=CircuitSettings)


@frozen(kw_only=True)
class CallLimit:
    """How many calls of one name may be under way in one process."""

    name: str
    calls_max: int


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


@frozen
class FromKey:
    """The key under which every attempt of the action was made; for status queries only."""


@frozen(kw_only=True)
class FromAnswer:
    pointer: Pointer


@frozen(kw_only=True)
class Always:
    value: JsonValue


type RequestSource = FromInput | FromContract | FromKey | Always
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
class ConfirmingAnswer:
    """The provider knows the call; the action's result, member by member."""

    fields: Mapping[str, AnswerSource]


@frozen
class NotFoundAnswer:
    """The provider doesn't know the call, or not yet."""


@frozen(kw_only=True)
class ProbeRoute:
    """How the provider is asked about a call in doubt; a status without a meaning says nothing.

    `key_echo` is where a confirming answer repeats the key.
    """

    request: RequestFields
    answers: Mapping[int, ConfirmingAnswer | NotFoundAnswer]
    key_echo: Pointer | None = None
    provider_reference: Pointer | None = None


@frozen(kw_only=True)
class Timeouts:
    """How long one attempt may take, in seconds: until connected, from the first byte sent to the last read, in all.

    `is_budget_written` says that the catalogue names the budget, so that a fault of it can be placed.
    """

    connect_seconds: float = 2.0
    answer_seconds: float = 10.0
    budget_seconds: float = 15.0
    is_budget_written: bool = False


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
    limit: CallLimit | None = None
    probe: ProbeRoute | None = None
