#!/bin/sh
# Check all types with the mypy named by the first argument.
set -u

mypy=$1
status=0

"$mypy" apps/*/src packages/*/src bench examples tests tools || status=1

# Each package's tests are checked on their own, as modules below their folder: two packages may have a test module of
# one name, and one package a conftest in several rooms.
for tests in apps/*/tests packages/*/tests; do
    if [ -n "$(find "$tests" -name '*.py' -print -quit 2>/dev/null)" ]; then
        MYPYPATH=$tests "$mypy" "$tests" || status=1
    fi
done

exit "$status"
