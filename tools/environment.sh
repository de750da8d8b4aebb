#!/bin/sh
# Make or renew the virtual environment named by the first argument: pinned libraries, then the workspace itself.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
environment=$1
uv="$root/tools/uv.sh"
cd "$root"

python=$(tools/python.sh)
if [ "$(cat "$environment/.interpreter" 2>/dev/null)" != "$python" ]; then
    "$uv" venv --quiet --clear --no-project --python "$python" "$environment"
    echo "$python" > "$environment/.interpreter"
fi

"$uv" pip sync --quiet --python "$environment" --require-hashes requirements/dev.txt requirements/build.txt

set --
for package in packages/*/ apps/*/; do
    set -- "$@" --editable "$package"
done
"$uv" pip install --quiet --python "$environment" --no-deps --no-build-isolation "$@"
