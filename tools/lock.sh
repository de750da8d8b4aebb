#!/bin/sh
# Remake requirements/*.txt from the pyproject files; arguments (such as --upgrade) are passed on to the resolver.
set -eu

cd "$(dirname "$0")/.."
PYTHON=$(tools/python.sh)
export PYTHON

compile() {
    target=$1
    shift
    tools/uv.sh pip compile --quiet --universal --generate-hashes --python "$PYTHON" --python-version 3.12 \
        --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
        --no-emit-package orchestrator-domain --no-emit-package orchestrator-postgres \
        --no-emit-package orchestrator-http --no-emit-package orchestrator-worker \
        --no-emit-package orchestrator-service --no-emit-package orchestrator-sandbox \
        "$@" --output-file "requirements/$target.txt"
}

# The widest set is resolved first and binds the others, so that production runs what the tests ran.
compile dev "$@" --group dev apps/sandbox/pyproject.toml
compile sandbox --constraints requirements/dev.txt apps/sandbox/pyproject.toml
compile production --constraints requirements/dev.txt apps/service/pyproject.toml
compile production-otlp --constraints requirements/dev.txt --extra otlp apps/service/pyproject.toml
compile build "$@" requirements/build.in
compile uv "$@" requirements/uv.in
# It binds libraries that production runs in other versions, so it lives in an environment of its own.
compile exploration "$@" requirements/exploration.in
compile ../bench/requirements-peers "$@" bench/requirements-peers.in

if grep -n -i -E 'https?:|file:|index-url|find-links|^-e' requirements/*.txt bench/requirements-peers.txt; then
    echo "The lines above name an index, a host or a path; pinned requirements must not." >&2
    exit 1
fi
