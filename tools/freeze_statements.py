"""Keep the statements that the code of the newest revision sends, before another revision is added.

`tests/migrations/test_upgrades.py` holds them against the schema that follows: a process of the release before must be
able to go on while a deployment is under way. Run it on the code that is about to get a successor.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import orchestrator_postgres
from orchestrator_postgres.schema_revision import HEAD_REVISION

RELEASED = Path(__file__).parents[1] / "tests" / "migrations" / "released"
_PACKAGE = Path(orchestrator_postgres.__file__).parent
_VERBS = ("SELECT", "INSERT", "UPDATE", "WITH")


def statements() -> dict[str, str]:
    """Return the text of each statement by a name, those in files and those that modules hold."""
    found = {
        file.stem: _bare(file.read_text(encoding="utf-8"))
        for file in sorted((_PACKAGE / "sql").glob("*.sql"))
    }
    for name, text in _of_modules():
        if text not in found.values():
            found[name] = text
    return {name: text for name, text in found.items() if text.startswith(_VERBS)}


def _of_modules() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(orchestrator_postgres.__path__):
        if module.ispkg:
            continue
        for name, value in vars(importlib.import_module(f"orchestrator_postgres.{module.name}")).items():
            if isinstance(value, bytes):
                yield f"{module.name}.{name.strip('_').lower()}", value.decode().strip()


def _bare(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--")).strip()


def main() -> None:
    sections = [f"-- {name}\n{text}\n" for name, text in sorted(statements().items())]
    (RELEASED / f"{HEAD_REVISION}.sql").write_text("\n".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
