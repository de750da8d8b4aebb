"""Write the statements composed with SQLAlchemy Core into the package that sends them: `make statements`.

A process that serves so need not import SQLAlchemy. A test holds texts and statements together.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import orchestrator_postgres
from orchestrator_postgres.core_statements.texts import statement_texts

COMPILED = Path(orchestrator_postgres.__file__).parent / "sql" / "core"
_HEADER = "-- Made of orchestrator_postgres.core_statements by `make statements`.\n"


def compiled_files() -> Mapping[str, str]:
    """Return what each file should hold, by its name below `sql/core/`."""
    return {f"{name}.sql": _HEADER + text for name, text in statement_texts().items()}


def main() -> None:
    shutil.rmtree(COMPILED, ignore_errors=True)
    COMPILED.mkdir()
    for name, content in compiled_files().items():
        (COMPILED / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
