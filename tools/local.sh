#!/bin/sh
# Run the service on this machine against the containers `postgres` and `mocks` of compose.yaml: roles, schema, then API
# and worker in one process. Arguments: the command `orchestrator`, and the file of private settings.
set -eu

orchestrator=$1
# A name without a slash would be looked for on PATH.
private=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
set -a
# shellcheck source=/dev/null
. "$private"
set +a

root=$(cd "$(dirname "$0")/.." && pwd)
at="127.0.0.1:${POSTGRES_PORT:-5432}/orchestrator"
issuer="http://127.0.0.1:${ISSUER_PORT:-9000}"

export DATABASE_URL="${DATABASE_URL:-postgresql://orchestrator_service:$RUNTIME_PASSWORD@$at}"
owner="${MIGRATION_DATABASE_URL:-postgresql://orchestrator_owner:$MIGRATION_PASSWORD@$at}"
eraser="${RETENTION_DATABASE_URL:-postgresql://orchestrator_eraser:$RETENTION_PASSWORD@$at}"
administrator="${ADMINISTRATOR_DATABASE_URL:-postgresql://postgres:$ADMINISTRATOR_PASSWORD@$at}"

# Each command is given what its own role needs, and the service none of it.
unset ADMINISTRATOR_PASSWORD MIGRATION_PASSWORD RUNTIME_PASSWORD RETENTION_PASSWORD
unset ADMINISTRATOR_DATABASE_URL MIGRATION_DATABASE_URL RETENTION_DATABASE_URL

ADMINISTRATOR_DATABASE_URL="$administrator" MIGRATION_DATABASE_URL="$owner" RETENTION_DATABASE_URL="$eraser" \
    "$orchestrator" provision
MIGRATION_DATABASE_URL="$owner" "$orchestrator" migrate

export REQUEST_API_ENABLED="${REQUEST_API_ENABLED:-true}" FLOW_ADMIN_ENABLED="${FLOW_ADMIN_ENABLED:-true}"
export WORKER_ENABLED="${WORKER_ENABLED:-true}" API_DOCS_ENABLED="${API_DOCS_ENABLED:-true}"
export MANAGEMENT_PORT="${MANAGEMENT_PORT:-9090}"
export INTEGRATION_CATALOGUE="${INTEGRATION_CATALOGUE:-$root/examples/catalogue/sandbox.json}"
export PROVIDERS_URL="${PROVIDERS_URL:-http://127.0.0.1:${PROVIDERS_PORT:-9001}}"
# The doubles call their issuer by the name that it has among the containers; its keys are fetched from here.
default_issuers="[{\"issuer\": \"http://mocks:9000\", \"jwksUrl\": \"$issuer/jwks.json\", \
\"audiences\": [\"orchestrator\"], \"algorithms\": [\"RS256\", \"ES256\"]}]"
export AUTH_ISSUERS="${AUTH_ISSUERS:-$default_issuers}"
exec "$orchestrator" serve
