"""Make a file of private settings from `.env.example`: what is secret there gets a random value.

A file that exists is left as it is: its passwords are those of a database that exists too.
"""

import os
import re
import secrets
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / ".env.example"
_SECRET = re.compile(r"^([A-Z_]+)=$", re.MULTILINE)


def filled(example: str) -> str:
    """Return the example with a random value for each variable that is there without one."""
    return _SECRET.sub(lambda found: f"{found[1]}={secrets.token_hex(24)}", example)


def main(target: Path) -> int:
    """Write the file, readable for its owner alone; return 1 if it is there already."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(f"{target} is there already, and stays as it is.", file=sys.stderr)
        return 1
    with os.fdopen(descriptor, "w") as file:
        file.write(filled(EXAMPLE.read_text(encoding="utf-8")))
    print(f"{target} holds random passwords now; keep it to yourself.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
