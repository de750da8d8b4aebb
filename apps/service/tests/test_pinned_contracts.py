"""A start with a catalogue that means something else by a published version is refused; a missing version only told."""

import asyncio
import json
from collections.abc import AsyncIterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from structlog.testing import capture_logs
from tests.acceptance.flows import credito
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.trial_catalogue import trial_catalogue

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import FlowId, RequestTypeKey, Role, Subject
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_service.assembly import assembled
from orchestrator_service.cli import main
from orchestrator_service.settings import read_settings
from orchestrator_service.start_refused import StartRefused
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue

PROVIDERS = {"PROVIDERS_URL": "http://127.0.0.1:1"}
ACTOR = Actor(
    subject=Subject("author-1"),
    roles=frozenset(map(Role, ("FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"))),
)


@pytest.fixture
async def published(database: TestDatabase) -> AsyncIterator[FlowId]:
    """The example flow, published with the trial catalogue and active."""
    catalogue = DeployedCatalogue(
        document=read_catalogue(
            json.dumps(trial_catalogue()).encode(), values=DeploymentValues(environment=PROVIDERS)
        )
    )
    async with PostgresEngine(ConnectionSettings(url=database.runtime_url)) as engine:
        work = PostgresUnitOfWork(engine)
        author = AuthorFlow(
            unit_of_work=work,
            validator=FlowSoundness(resolve_contract=catalogue.current),
            catalogue=catalogue,
            identifiers=SequentialIdentifiers(),
        )
        document = parse_json(dump_json(credito()))
        assert isinstance(document, dict)
        draft = await author.create_draft(document, ACTOR)
        await author.publish(draft.id, ACTOR)
        await ActivateFlow(unit_of_work=work).activate(
            RequestTypeKey("CREDITO"), draft.id, precondition=MustNotExist(), actor=ACTOR
        )
        yield draft.id


def bureau(catalogue: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(
        each for each in catalogue["integrations"] if each["integrationKey"] == "BURO_CONSULTA"
    )
    return found


async def start(database: TestDatabase, catalogue: dict[str, Any], directory: Path) -> list[dict[str, Any]]:
    """Start and stop a worker with this catalogue; return the warnings of its catalogue."""
    file = directory / f"{uuid4().hex}.json"
    file.write_text(json.dumps(catalogue))
    variables = {
        "DATABASE_URL": database.runtime_url,
        "WORKER_ENABLED": "true",
        "INTEGRATION_CATALOGUE": str(file),
        **PROVIDERS,
    }
    with capture_logs() as logs:
        async with assembled(read_settings(variables), variables):
            pass
    return [dict(entry) for entry in logs if entry["event"] == "pinned_contracts_missing"]


async def test_the_catalogue_of_the_publication_may_serve(
    database: TestDatabase, published: FlowId, tmp_path: Path
) -> None:
    assert await start(database, trial_catalogue(), tmp_path) == []


async def test_another_meaning_under_a_pinned_version_refuses_the_start(
    database: TestDatabase, published: FlowId, tmp_path: Path
) -> None:
    changed = trial_catalogue()
    bureau(changed)["outputSchema"]["properties"]["score"]["maximum"] = 5
    with pytest.raises(StartRefused) as refusal:
        await start(database, changed, tmp_path)
    (fault,) = refusal.value.faults
    assert "BURO_CONSULTA version 1" in fault
    assert "flow CREDITO version 1" in fault


async def test_what_may_rotate_may_differ(database: TestDatabase, published: FlowId, tmp_path: Path) -> None:
    changed = trial_catalogue()
    bureau(changed)["retry"] = {"backoffSeconds": 1}
    assert await start(database, changed, tmp_path) == []


async def test_a_new_version_beside_the_pinned_one_may_serve(
    database: TestDatabase, published: FlowId, tmp_path: Path
) -> None:
    changed = trial_catalogue()
    newer = {**deepcopy(bureau(changed)), "contractVersion": 2}
    newer["outputSchema"]["properties"]["score"]["maximum"] = 5
    changed["integrations"].append(newer)
    assert await start(database, changed, tmp_path) == []


async def test_a_version_that_is_not_deployed_is_a_warning(
    database: TestDatabase, published: FlowId, tmp_path: Path
) -> None:
    changed = trial_catalogue()
    changed["integrations"].remove(bureau(changed))
    (warning,) = await start(database, changed, tmp_path)
    assert (warning["flowKey"], warning["version"]) == ("CREDITO", 1)
    assert warning["contracts"] == "BURO_CONSULTA version 1"


async def test_the_doctor_names_each_contract_that_a_flow_misses_once(
    database: TestDatabase,
    published: FlowId,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = trial_catalogue()
    changed["integrations"].remove(bureau(changed))
    (tmp_path / "catalogue.json").write_text(json.dumps(changed))
    variables = {
        "INTEGRATION_CATALOGUE": str(tmp_path / "catalogue.json"),
        "WORKER_ENABLED": "true",
        **PROVIDERS,
    }
    for name, value in {"DATABASE_URL": database.runtime_url, **variables}.items():
        monkeypatch.setenv(name, value)

    assert await asyncio.to_thread(main, ["doctor"]) == 0

    said = [line for line in capsys.readouterr().out.splitlines() if "catalogue" in line]
    assert len(said) == 1
    assert "flow CREDITO version 1 needs it: BURO_CONSULTA version 1." in said[0]


async def test_a_flow_that_nobody_uses_refuses_no_start(
    database: TestDatabase, published: FlowId, tmp_path: Path
) -> None:
    database.execute("UPDATE orchestrator.request_type SET active_flow_id = NULL")
    changed = trial_catalogue()
    bureau(changed)["outputSchema"]["properties"]["score"]["maximum"] = 5
    assert await start(database, changed, tmp_path) == []
