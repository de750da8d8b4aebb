"""The catalogue of the examples, made to fit leases that are short enough to watch them expire."""

from pathlib import Path

from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_sandbox.failure import SandboxFailure

_TIMEOUTS: JsonObject = {"connectSeconds": 1, "answerSeconds": 4, "budgetSeconds": 5}
_ASKED: JsonObject = {"askForSeconds": 3, "backoffSeconds": 1}


def quick_catalogue(catalogue_file: Path, directory: Path) -> Path:
    """Write the catalogue with short timeouts and short questions into a directory, and return the new file.

    How long something takes is no part of a contract, so the contracts stay the same. Raises SandboxFailure for a file that
    has no list of integrations.
    """
    catalogue = parse_json(catalogue_file.read_bytes())
    integrations = catalogue.get("integrations") if isinstance(catalogue, dict) else None
    if not isinstance(catalogue, dict) or not isinstance(integrations, list):
        raise SandboxFailure(f"{catalogue_file} holds no list of integrations: it is not a catalogue.")
    quick: JsonObject = {**catalogue, "integrations": [_quick(entry) for entry in integrations]}
    if "documentService" in quick:
        quick["documentService"] = _quick(quick["documentService"])
    quick_file = directory / "catalogue.json"
    quick_file.write_text(dump_json(quick), encoding="utf-8")
    return quick_file


def _quick(entry: JsonValue) -> JsonValue:
    # What is no object stays as it is: the service tells what is wrong with it.
    if not isinstance(entry, dict):
        return entry
    quick: JsonObject = {**entry, "timeouts": dict(_TIMEOUTS)}
    if isinstance(asked := entry.get("probe"), dict):
        quick["probe"] = {**asked, **_ASKED}
    return quick
