#!/bin/sh
# Print the path of a Python interpreter that is 3.12 or newer: the one named by PYTHON, or the first found.
set -eu

is_usable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1
}

path_of() {
    "$1" -c 'import sys; print(sys.executable)'
}

if [ -n "${PYTHON:-}" ]; then
    if is_usable "$PYTHON"; then
        path_of "$PYTHON"
        exit 0
    fi
    echo "PYTHON=$PYTHON does not run as Python 3.12 or newer; name another interpreter, or leave PYTHON unset." >&2
    exit 1
fi

# A candidate is run before it is chosen: version managers leave launchers on PATH for versions that are not active.
for candidate in python3.13 python3.12 python3 \
    "${HOME:-}"/.pyenv/versions/3.13*/bin/python3 "${HOME:-}"/.pyenv/versions/3.12*/bin/python3; do
    if is_usable "$candidate"; then
        path_of "$candidate"
        exit 0
    fi
done

echo "No Python 3.12 or newer was found; install one, or name it: make PYTHON=/path/to/python3.13" >&2
exit 1
