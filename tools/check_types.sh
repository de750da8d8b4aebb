#!/bin/sh
# Check all types with the mypy named by the first argument.
set -u

mypy=$1
status=0

"$mypy" apps/*/src packages/*/src tests || status=1

# Each package's tests are checked on their own: two packages may have a test module, or a conftest, of one name.
for tests in apps/*/tests packages/*/tests; do
    if [ -n "$(find "$tests" -name '*.py' -print -quit 2>/dev/null)" ]; then
        "$mypy" "$tests" || status=1
    fi
done

exit "$status"
