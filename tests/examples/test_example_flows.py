"""Every example flow is sound, complete and of the version and roles that it names."""

from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.findings import Severity
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import Role
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue

EXAMPLES = Path(__file__).parents[2] / "examples"
FLOWS = sorted((EXAMPLES / "flows").glob("*.json"))
ROLES = {"CREDITO": ("SOLICITANTE", "ANALISTA"), "COMPRA": ("COMPRADOR", "CAJERO")}


def document(name: str) -> Any:
    return parse_json((EXAMPLES / "flows" / f"{name}.json").read_bytes())


@pytest.fixture(scope="module")
def catalogue() -> DeployedCatalogue:
    values = DeploymentValues(environment={"PROVIDERS_URL": "http://127.0.0.1:1"})
    file = EXAMPLES / "catalogue" / "sandbox.json"
    return DeployedCatalogue(document=read_catalogue(file.read_bytes(), values=values))


def test_the_examples_are_the_three_that_the_delivery_names() -> None:
    assert [file.stem for file in FLOWS] == ["compra-v1", "credito-v1", "credito-v2-licencia"]


@pytest.mark.parametrize("file", FLOWS, ids=lambda file: file.stem)
def test_an_example_publishes_without_error_or_warning(file: Path, catalogue: DeployedCatalogue) -> None:
    flow = cast("JsonObject", parse_json(file.read_bytes()))
    roles = frozenset(map(Role, ROLES[str(flow["flowKey"])]))
    report = FlowSoundness(resolve_contract=catalogue.current, known_roles=roles).validate(flow)
    told = [finding for finding in report.findings if finding.severity is not Severity.INFORMATION]
    assert (report.publishable, told) == (True, [])


@pytest.mark.parametrize("file", FLOWS, ids=lambda file: file.stem)
def test_every_state_of_an_example_that_waits_for_somebody_has_a_task(file: Path) -> None:
    flow = read_flow(parse_json(file.read_bytes()))
    waiting = {state.key for state in flow.states if not state.terminal}
    assert {task.state for task in flow.tasks} == waiting


def test_the_licence_of_version_2_is_the_task_that_the_specification_shows() -> None:
    (task,) = [
        task for task in document("credito-v2-licencia")["tasks"] if task["state"] == "LICENCIA_PENDIENTE"
    ]
    assert task["event"] == "REGISTRAR_LICENCIA"
    assert task["ui"] == {
        "component": "DOCUMENT_UPLOAD",
        "title": "Sube tu licencia de conducir",
        "documentType": "LICENCIA_CONDUCIR",
        "acceptedMimeTypes": ["application/pdf", "image/jpeg", "image/png"],
        "maxBytes": 10485760,
    }
    schema = task["inputSchema"]
    assert (schema["required"], schema["additionalProperties"]) == (["documentId"], False)
    assert schema["properties"]["documentId"]["format"] == "uuid"


def test_version_2_adds_the_licence_to_version_1_and_changes_one_destination() -> None:
    first, second = document("credito-v1"), document("credito-v2-licencia")
    assert (first["flowKey"], second["flowKey"], second["version"]) == ("CREDITO", "CREDITO", 2)
    for part, name in (("states", "key"), ("events", "key"), ("transitions", "id")):
        older = {entry[name]: entry for entry in first[part]}
        newer = {entry[name]: entry for entry in second[part]}
        changed = {key for key in older if older[key] != newer[key]}
        assert changed == ({"registrar-estado-cuenta"} if part == "transitions" else set())
        assert len(newer.keys() - older.keys()) == 1
    assert first["decisions"] == second["decisions"]


def test_the_payment_of_the_purchase_must_not_be_asked_for_twice(catalogue: DeployedCatalogue) -> None:
    flow = read_flow(document("compra-v1"))
    (action,) = next(each.actions for each in flow.transitions if each.id == "pagar")
    contract = catalogue.current(action)
    assert not isinstance(contract, tuple)
    assert contract.effect == "NON_IDEMPOTENT_WRITE"
