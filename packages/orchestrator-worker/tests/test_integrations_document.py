"""What `docs/INTEGRATIONS.md` shows is sound, and it leaves no member of a catalogue out."""

import re
from pathlib import Path
from typing import Any

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.contract import Effect
from orchestrator_worker.catalogue_document import catalogue_schema, read_catalogue
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.document_metadata import METADATA_SCHEMA

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "INTEGRATIONS.md").read_text(encoding="utf-8")
SCHEMA = (ROOT / "contracts" / "schemas" / "integration-catalogue.schema.json").read_bytes()
(SHOWN,) = re.findall(r"```json\n(.*?)```", TEXT, flags=re.DOTALL)


def members_of(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {name for child in schema for name in members_of(child)}
    if not isinstance(schema, dict):
        return set()
    own = {name for name in schema.get("properties", {}) if isinstance(schema["properties"], dict)}
    return own | {name for child in schema.values() for name in members_of(child)}


def test_the_catalogue_that_is_shown_is_sound() -> None:
    environment = {"INVENTORY_URL": "https://inventory.example.com", "DOCUMENTS_KEY": "key-1"}
    values = DeploymentValues(environment=environment, read_file=lambda _: "secret", are_stand_ins=True)
    document = read_catalogue(SHOWN, values=values)
    assert [integration.effect for integration in document.integrations] == [
        Effect.READ_ONLY,
        Effect.IDEMPOTENT_WRITE,
    ]
    assert document.document_service is not None
    assert catalogue_schema().accepts(parse_json(SHOWN))


def test_every_member_of_a_catalogue_and_of_a_documents_metadata_is_told() -> None:
    members = members_of(parse_json(SCHEMA)) | members_of(METADATA_SCHEMA)
    told = set(re.findall(r"[A-Za-z$][A-Za-z0-9]*", TEXT))
    assert members - told == set()


def test_every_error_code_of_a_call_is_told() -> None:
    source = ROOT / "packages" / "orchestrator-worker" / "src" / "orchestrator_worker"
    files = ("answer_meaning", "invoke_integration", "register_document", "provider_answer")
    written = "".join((source / f"{name}.py").read_text(encoding="utf-8") for name in files)
    codes = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', written)) - {"UNKNOWN_ENCODING"}
    assert {code for code in codes if code not in TEXT} == set()
