"""The settings of the service: the only room that reads the environment, and it tells all faults at once.

Everything is off or safe by default; there are no default credentials.
"""

from collections.abc import Mapping
from pathlib import Path

from attrs import asdict, field, fields_dict, frozen

from orchestrator_domain.flow.limits import HARD_MAXIMUM, FlowLimits
from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.issuers import IssuerArguments, read_issuers
from orchestrator_service.listener_tls import ListenerTls, fault_of

_CURSOR_SECRET_CHARACTERS_MIN = 32
_BYTES_LEAST = 1024
_LIMITS = {
    "FLOW_DEFINITION_BYTES_MAX": "definition_bytes_max",
    "FLOW_STATES_MAX": "states_max",
    "FLOW_TRANSITIONS_MAX": "transitions_max",
    "FLOW_ACTIONS_MAX": "actions_max",
    "FLOW_CONDITION_DEPTH_MAX": "condition_depth_max",
    "FLOW_DECISION_NODES_MAX": "decision_nodes_max",
    "REQUEST_DATA_BYTES_MAX": "data_bytes_max",
}
_OUR_PREFIXES = (
    "WORKER_",
    "AUTH_",
    "FLOW_",
    "REQUEST_",
    "DATABASE_",
    "MANAGEMENT_",
    "LISTEN_",
    "CURSOR_",
    "TRACES_",
)


@frozen(kw_only=True)
class Listener:
    """Where something listens, and in which certificate's name; without one it speaks plain HTTP."""

    host: str
    port: int
    tls: ListenerTls | None = None


@frozen(kw_only=True)
class WorkerConfiguration:
    """How this process takes part in running executions (worker document)."""

    enabled: bool
    concurrency: int
    batch: int
    poll_ms: int
    lease_seconds: float
    renew_seconds: float
    drain_seconds: float


@frozen(kw_only=True)
class Settings:
    """All that one process is told."""

    database_url: str = field(repr=False)
    database_pool: int
    database_wait_seconds: float
    listen: Listener
    management: Listener | None
    request_api_enabled: bool
    flow_admin_enabled: bool
    api_docs_enabled: bool
    worker: WorkerConfiguration
    limits: FlowLimits
    request_body_bytes_max: int
    flow_body_bytes_max: int
    issuers: tuple[IssuerArguments, ...]
    cursor_secrets: tuple[str, ...] = field(repr=False)
    business_roles: tuple[str, ...]
    catalogue_file: Path | None
    log_level: str
    traces_endpoint: str | None = None

    @property
    def serves_api(self) -> bool:
        return self.request_api_enabled or self.flow_admin_enabled


def read_settings(variables: Mapping[str, str]) -> Settings:
    """Read the environment; raise SettingsInvalid with every fault, never with a value."""
    environment = Environment(variables)
    settings = settings_from(environment)
    environment.look_for_typing_errors(*_OUR_PREFIXES)
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    return settings


def read_migration_url(variables: Mapping[str, str]) -> str:
    """Return the URL of the migration role, which only `orchestrator migrate` uses."""
    environment = Environment(variables)
    url = migration_url_from(environment)
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    return url


def read_retention_url(variables: Mapping[str, str]) -> str:
    """Return the URL of the role that erases, which only `orchestrator retention` uses."""
    environment = Environment(variables)
    url = retention_url_from(environment)
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    return url


def migration_url_from(environment: Environment) -> str:
    return environment.database_url("MIGRATION_DATABASE_URL", "the URL of the role that owns the schema")


def retention_url_from(environment: Environment) -> str:
    return environment.database_url(
        "RETENTION_DATABASE_URL", "the URL of the role that may erase personal data"
    )


def settings_from(environment: Environment) -> Settings:
    """Ask for every setting of `serve`; the faults stay in the environment."""
    request_api = environment.flag("REQUEST_API_ENABLED")
    flow_admin = environment.flag("FLOW_ADMIN_ENABLED")
    return Settings(
        database_url=environment.database_url("DATABASE_URL", "the URL of the restricted runtime role"),
        database_pool=environment.integer("DATABASE_POOL", 10, least=2, most=200),
        database_wait_seconds=environment.seconds("DATABASE_WAIT_SECONDS", 30, least=0, most=3600),
        listen=_api_listener(environment),
        management=_management(environment),
        request_api_enabled=request_api,
        flow_admin_enabled=flow_admin,
        api_docs_enabled=environment.flag("API_DOCS_ENABLED"),
        worker=_worker(environment),
        limits=_limits(environment),
        request_body_bytes_max=environment.integer(
            "REQUEST_BODY_BYTES_MAX", 327_680, least=_BYTES_LEAST, most=8_388_608
        ),
        flow_body_bytes_max=environment.integer(
            "FLOW_BODY_BYTES_MAX", 1_310_720, least=_BYTES_LEAST, most=8_388_608
        ),
        issuers=_issuers(environment, needed=request_api or flow_admin),
        cursor_secrets=_cursor_secrets(environment, needed=request_api or flow_admin),
        business_roles=environment.words("FLOW_BUSINESS_ROLES"),
        catalogue_file=environment.file("INTEGRATION_CATALOGUE"),
        log_level=environment.one_of("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
        traces_endpoint=_traces_endpoint(environment),
    )


def health_listener_from(environment: Environment) -> Listener:
    """Say where the process tells its health: on the management port if there is one, else beside the API."""
    return _management(environment) or _api_listener(environment)


def _api_listener(environment: Environment) -> Listener:
    host = environment.text("LISTEN_HOST", "127.0.0.1")
    assert host is not None
    return Listener(
        host=host,
        port=environment.integer("LISTEN_PORT", 8080, least=0, most=65535),
        tls=_listener_tls(environment),
    )


def _listener_tls(environment: Environment) -> ListenerTls | None:
    faults_before = len(environment.faults)
    certificate = environment.file("LISTEN_TLS_CERTIFICATE_FILE")
    key = environment.file("LISTEN_TLS_KEY_FILE")
    if certificate is None or key is None:
        environment.check(
            that=certificate is key,
            otherwise="LISTEN_TLS_CERTIFICATE_FILE and LISTEN_TLS_KEY_FILE are set together or not at all.",
        )
        return None
    tls = ListenerTls(certificate_file=certificate, key_file=key)
    if len(environment.faults) == faults_before and (fault := fault_of(tls)) is not None:
        environment.faults.append(fault)
    return tls


def _management(environment: Environment) -> Listener | None:
    """Return where metrics and health are served apart from the API; not at all unless a port is given."""
    host = environment.text("MANAGEMENT_HOST", "127.0.0.1")
    port = environment.optional_integer("MANAGEMENT_PORT", least=0, most=65535)
    assert host is not None
    return None if port is None else Listener(host=host, port=port)


def _worker(environment: Environment) -> WorkerConfiguration:
    lease = environment.seconds("WORKER_LEASE_SECONDS", 60, least=1, most=3600)
    renew = environment.seconds("WORKER_RENEW_SECONDS", 15, least=0.1, most=1800)
    environment.check(
        that=renew < lease / 2,
        otherwise="WORKER_RENEW_SECONDS must be less than half of WORKER_LEASE_SECONDS.",
    )
    concurrency = environment.integer("WORKER_CONCURRENCY", 10, least=1, most=500)
    return WorkerConfiguration(
        enabled=environment.flag("WORKER_ENABLED"),
        concurrency=concurrency,
        batch=environment.integer("WORKER_BATCH", min(10, concurrency), least=1, most=500),
        poll_ms=environment.integer("WORKER_POLL_MS", 500, least=10, most=60_000),
        lease_seconds=lease,
        renew_seconds=renew,
        drain_seconds=environment.seconds("WORKER_DRAIN_SECONDS", 20, least=0, most=600),
    )


def _limits(environment: Environment) -> FlowLimits:
    """Read the operational limits of section 6, each below the hard maximum that FlowLimits declares."""
    usual, declared = asdict(FlowLimits()), fields_dict(FlowLimits)
    return FlowLimits(
        **{
            limit: environment.integer(
                variable,
                usual[limit],
                least=_BYTES_LEAST if "BYTES" in variable else 1,
                most=declared[limit].metadata[HARD_MAXIMUM],
            )
            for variable, limit in _LIMITS.items()
        }
    )


def _issuers(environment: Environment, *, needed: bool) -> tuple[IssuerArguments, ...]:
    if environment.text("AUTH_ISSUERS") is None:
        environment.check(
            that=not needed,
            otherwise="AUTH_ISSUERS is not set; the API needs at least one trusted token issuer.",
        )
    document = environment.json("AUTH_ISSUERS")
    if document is None:
        return ()
    read = read_issuers(document)
    environment.faults.extend(read.faults)
    return read.issuers


def _cursor_secrets(environment: Environment, *, needed: bool) -> tuple[str, ...]:
    """Read the secrets that sign cursors, the newest first; all processes of a deployment need the same ones."""
    secrets = environment.words("CURSOR_SECRETS")
    environment.check(
        that=bool(secrets) or not needed,
        otherwise="CURSOR_SECRETS is not set; the API signs the cursors of its lists with it.",
    )
    environment.check(
        that=all(len(secret) >= _CURSOR_SECRET_CHARACTERS_MIN for secret in secrets),
        otherwise=f"CURSOR_SECRETS holds a secret of less than {_CURSOR_SECRET_CHARACTERS_MIN} characters.",
    )
    return secrets


def _traces_endpoint(environment: Environment) -> str | None:
    """Return where spans are sent (OTLP over HTTP), the path included; nowhere unless it is given."""
    endpoint = environment.text("TRACES_ENDPOINT")
    environment.check(
        that=endpoint is None or endpoint.startswith(("http://", "https://")),
        otherwise="TRACES_ENDPOINT is not a URL of a collector; it begins with http:// or https://.",
    )
    return endpoint
