"""What each setting means, for whoever configures a deployment: the reference is made of it.

A setting that is read and isn't here, or is here and isn't read, fails a test.
"""

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "Database": {
        "DATABASE_URL": "The database, as the restricted runtime role.",
        "DATABASE_POOL": "Connections that the API and the worker of one process keep.",
        "DATABASE_WAIT_SECONDS": (
            "How long a start waits for a database that doesn't answer before it ends with 3; one that answers and refuses "
            "is not waited for."
        ),
        "MIGRATION_DATABASE_URL": (
            "The database, as the role that owns the schema. Read by `orchestrator migrate` and `provision` only; the "
            "service never needs it."
        ),
        "RETENTION_DATABASE_URL": "The database, as the role that may erase personal data, and do nothing else.",
        "ADMINISTRATOR_DATABASE_URL": (
            "The database, as a superuser. Read by `orchestrator provision` only, which makes the other three logins."
        ),
    },
    "What a process does": {
        "REQUEST_API_ENABLED": (
            "Serve requests: creating and reading them, their available events and history, sending events, reading "
            "executions and resolving those that stopped."
        ),
        "FLOW_ADMIN_ENABLED": (
            "Serve flows: drafting, editing, validating, simulating, publishing, retiring and listing them, and "
            "activating them for request types, which are opened and closed."
        ),
        "API_DOCS_ENABLED": (
            "Serve the contract (`/openapi.json`, `/openapi.yaml`), a page of it (`/docs`) and one for each problem; the "
            "`type` of a problem, `/problems/CODE`, leads somewhere only with it."
        ),
        "WORKER_ENABLED": "Run accepted events.",
    },
    "Listening": {
        "LISTEN_HOST": "Where the API listens.",
        "LISTEN_PORT": "On which port; 0 takes a free one.",
        "LISTEN_TLS_CERTIFICATE_FILE": (
            "The certificate that the API shows, with its chain, as PEM; without one it speaks plain HTTP and whatever "
            "stands before it ends TLS. Both files are read at the start: a new certificate needs a restart."
        ),
        "LISTEN_TLS_KEY_FILE": "The key of that certificate, as PEM and without a password.",
        "MANAGEMENT_HOST": "Where `/health/live`, `/health/ready` and `/metrics` are served.",
        "MANAGEMENT_PORT": "On which port; 0 takes a free one, and without it there are no metrics.",
    },
    "Who may call": {
        "AUTH_ISSUERS": (
            "An array of trusted token issuers: `issuer`, `audiences`, `algorithms`, and, if they differ from the usual, "
            "`jwksUrl`, `alias`, `types` (`at+jwt` and `application/at+jwt`; add `JWT` for issuers that send it), "
            "`rolesClaim`, `scopesClaim`, `attributesClaim`, `clockSkewSeconds`, `allowPlainHttp` (keys over http from "
            "another machine). Needed by the API."
        ),
        "CURSOR_SECRETS": (
            "Secrets of at least 32 characters that sign the cursors of lists, the same for every process: the first one "
            "signs, all verify. Needed by the API."
        ),
    },
    "Integrations": {
        "INTEGRATION_CATALOGUE": "The file that says which integrations exist and how each provider is called.",
    },
    "Worker": {
        "WORKER_CONCURRENCY": "Executions at the same time.",
        "WORKER_BATCH": "Most executions taken at once; at most the concurrency, unless it is set.",
        "WORKER_POLL_MS": "How long a worker without work waits before it looks again.",
        "WORKER_LEASE_SECONDS": (
            "How long an execution belongs to a worker that doesn't renew. Each budget in the catalogue must be shorter, "
            "so a shorter lease needs shorter ones."
        ),
        "WORKER_RENEW_SECONDS": "How often it renews; less than half of the lease.",
        "WORKER_DRAIN_SECONDS": "How long running work may take after SIGTERM.",
    },
    "Limits": {
        "REQUEST_BODY_BYTES_MAX": "Most bytes in the body of a request or event.",
        "REQUEST_DATA_BYTES_MAX": "Most bytes of a request's data.",
        "FLOW_BODY_BYTES_MAX": "Most bytes in the body of a flow.",
        "FLOW_DEFINITION_BYTES_MAX": "Most bytes of a definition.",
        "FLOW_STATES_MAX": "Most states of a flow.",
        "FLOW_TRANSITIONS_MAX": "Most transitions of a flow.",
        "FLOW_ACTIONS_MAX": "Most actions of a transition.",
        "FLOW_CONDITION_DEPTH_MAX": "Deepest nesting of a condition.",
        "FLOW_DECISION_NODES_MAX": "Most nodes of a decision.",
        "FLOW_BUSINESS_ROLES": "The roles that flows may name; without it, any.",
    },
    "Logs": {
        "LOG_LEVEL": "What is written to the log, and what is worse.",
    },
    "Traces": {
        "TRACES_ENDPOINT": (
            "The URL, its path included, to which spans are sent (OTLP over HTTP); without it, none are recorded, and the "
            "trace that a client began is passed on all the same. Needs the extra `otlp` of `orchestrator-service`; the "
            "rest is told to OpenTelemetry's library by its own variables, such as `OTEL_TRACES_SAMPLER`."
        ),
    },
}
