#!/bin/sh
# Run uv with the arguments given: the one on PATH if it is recent enough, else the pinned one, installed into .tools/.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pinned_version=$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' "$root/requirements/uv.txt")
pinned_environment="$root/.tools/uv-$pinned_version"

is_recent() {
    version=$(uv --version 2>/dev/null) || return 1
    echo "$version" | awk '{ split($2, part, "."); exit !(part[1] > 0 || part[2] >= 9) }'
}

install_pinned() {
    python=$("$root/tools/python.sh")
    echo "Installing uv $pinned_version into .tools/ …" >&2
    rm -rf "$pinned_environment"
    if ! "$python" -m venv "$pinned_environment" >&2; then
        echo "$python cannot make virtual environments; install its venv module, or put uv on PATH." >&2
        exit 1
    fi
    "$pinned_environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
        --require-hashes --only-binary :all: --requirement "$root/requirements/uv.txt" >&2
}

# A home that cannot be written to must not stop the build.
choose_cache() {
    default_cache="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/uv"
    if [ -z "${UV_CACHE_DIR:-}" ] && ! { mkdir -p "$default_cache" && [ -w "$default_cache" ]; } 2>/dev/null; then
        export UV_CACHE_DIR="$root/.tools/uv-cache"
    fi
}

if is_recent; then
    uv=uv
else
    uv="$pinned_environment/bin/uv"
    "$uv" --version >/dev/null 2>&1 || install_pinned
fi

choose_cache
# As pip does: trust the authorities that the system trusts.
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"
export UV_PYTHON_DOWNLOADS=never
exec "$uv" "$@"
