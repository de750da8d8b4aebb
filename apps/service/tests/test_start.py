"""Where the service refuses to start: databases, roles, schemas and catalogues that it must not work with."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.trial_catalogue import trial_catalogue

from orchestrator_domain.errors import OrchestratorError
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.schema_revision import HEAD_REVISION
from orchestrator_postgres.start_check import awaited_start_faults
from orchestrator_service.assembly import assembled
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.settings import read_settings
from orchestrator_service.start_refused import StartRefused

SECRET = "abcdefghijklmnopqrstuvwxyz012345"
ISSUER: Mapping[str, Any] = {
    "issuer": "http://127.0.0.1:1",
    "audiences": ["orchestrator"],
    "algorithms": ["RS256"],
}


async def _start(**variables: str) -> None:
    async with assembled(read_settings(variables), variables):
        pass


async def _refusal(**variables: str) -> OrchestratorError:
    with pytest.raises(OrchestratorError) as refusal:
        await _start(**variables)
    return refusal.value


def _at_a_later_revision(database: TestDatabase, *, serves_code_since: str) -> None:
    """Let the schema say that it is of a release that this code doesn't know, and whom it still serves."""
    database.execute("UPDATE orchestrator.alembic_version SET version_num = '9999'")
    database.execute(
        "CREATE OR REPLACE FUNCTION orchestrator.serves_code_since() RETURNS text LANGUAGE sql IMMUTABLE"
        f" AS $$ SELECT '{serves_code_since}' $$"
    )


async def test_a_later_schema_that_still_serves_this_code_is_served_from(database: TestDatabase) -> None:
    _at_a_later_revision(database, serves_code_since=HEAD_REVISION)
    await _start(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")


async def test_the_runtime_role_on_a_migrated_database_may_serve(database: TestDatabase) -> None:
    await _start(
        DATABASE_URL=database.runtime_url,
        REQUEST_API_ENABLED="true",
        WORKER_ENABLED="true",
        AUTH_ISSUERS=json.dumps([ISSUER]),
        CURSOR_SECRETS=SECRET,
    )


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        ("superuser_url", "The role is a superuser."),
        ("migration_url", "The role owns the schema."),
        ("retention_url", "The role can erase personal data."),
    ],
)
async def test_a_role_that_may_do_too_much_is_refused_by_name_of_its_powers(
    database: TestDatabase, role: str, sentence: str
) -> None:
    refusal = await _refusal(DATABASE_URL=getattr(database, role), WORKER_ENABLED="true")

    assert isinstance(refusal, StartRefused)
    assert sentence in refusal.faults


async def test_every_power_of_a_role_comes_at_once(database: TestDatabase) -> None:
    refusal = await _refusal(DATABASE_URL=database.superuser_url, WORKER_ENABLED="true")

    assert isinstance(refusal, StartRefused)
    assert len(refusal.faults) > 5


async def test_a_database_that_was_never_migrated_is_refused(unmigrated_database: TestDatabase) -> None:
    refusal = await _refusal(DATABASE_URL=unmigrated_database.runtime_url, WORKER_ENABLED="true")

    assert isinstance(refusal, StartRefused)
    assert (
        "The database has no orchestrator schema that this role can read: run the migrations."
        in refusal.faults
    )


async def test_a_schema_of_a_newer_release_is_refused(database: TestDatabase) -> None:
    _at_a_later_revision(database, serves_code_since="9999")

    refusal = await _refusal(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")

    assert "deploy a newer version" in refusal.message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://someone:hunter2@127.0.0.1:1/orchestrator",
        "postgresql://someone:hunter2@host.invalid/orchestrator",
    ],
    ids=["unreachable", "unknown-host"],
)
async def test_a_database_that_does_not_answer_is_one_sentence_without_its_password(url: str) -> None:
    refusal = await _refusal(DATABASE_URL=url, DATABASE_WAIT_SECONDS="0", WORKER_ENABLED="true")

    assert refusal.code == "DATABASE_UNREACHABLE"
    assert refusal.message.startswith("No database answers at the address in this URL")
    assert "hunter2" not in refusal.message


async def test_a_database_that_does_not_exist_is_no_reason_to_wait(database: TestDatabase) -> None:
    url = database.runtime_url.replace(database.name, "no_such_database")

    refusal = await _refusal(DATABASE_URL=url, WORKER_ENABLED="true")

    assert refusal.code == "START_REFUSED"


async def test_a_start_waits_for_a_database_that_comes_later(database: TestDatabase) -> None:
    proxy = CuttingProxy(database.runtime_url)
    async with proxy:
        url, port = proxy.url, proxy.port
    # Nothing listens there any more.
    told: list[str] = []
    later = CuttingProxy(database.runtime_url, port=port)
    beginnings: list[asyncio.Task[CuttingProxy]] = []

    def waiting(reason: str) -> None:
        told.append(reason)
        if not beginnings:
            beginnings.append(asyncio.create_task(later.__aenter__()))

    settings = ConnectionSettings(url=url)
    try:
        assert await awaited_start_faults(settings, wait_seconds=60, waiting=waiting) == ()
    finally:
        await beginnings[0]
        await later.__aexit__()
    assert told[0].startswith("No database answers")


async def test_a_wrong_password_is_one_sentence_without_it(database: TestDatabase) -> None:
    url = database.runtime_url.replace(":runtime@", ":hunter2@")

    refusal = await _refusal(DATABASE_URL=url, WORKER_ENABLED="true")

    assert refusal.code == "START_REFUSED"
    assert refusal.message.startswith("The database answers and can't be used with this URL")
    assert "hunter2" not in refusal.message


async def test_every_fault_of_the_catalogue_comes_at_once_with_its_place(tmp_path: Path) -> None:
    catalogue = trial_catalogue()
    catalogue["integrations"][0]["endpoint"] = "nowhere"
    catalogue["integrations"][1]["outputSchema"] = {"type": "nonsense"}
    del catalogue["integrations"][2]["effect"]
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(catalogue))

    refusal = await _refusal(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/x",
        WORKER_ENABLED="true",
        INTEGRATION_CATALOGUE=str(file),
        PROVIDERS_URL="http://127.0.0.1:1",
    )

    assert isinstance(refusal, SettingsInvalid)
    assert all(fault.startswith("INTEGRATION_CATALOGUE at /integrations/") for fault in refusal.faults)
    assert {fault.split("/")[2].split(":")[0] for fault in refusal.faults} >= {"2"}


async def test_faults_beyond_the_catalogue_s_form_come_at_once_too(tmp_path: Path) -> None:
    catalogue = trial_catalogue()
    catalogue["integrations"][0]["endpoint"] = "nowhere"
    catalogue["integrations"][1]["outputSchema"] = {"type": "nonsense"}
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(catalogue))

    refusal = await _refusal(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/x",
        INTEGRATION_CATALOGUE=str(file),
        PROVIDERS_URL="http://127.0.0.1:1",
    )

    assert isinstance(refusal, SettingsInvalid)
    assert {fault.split("/")[2] for fault in refusal.faults} == {"0", "1"}


async def test_only_a_process_that_calls_providers_needs_their_addresses_and_secrets(
    database: TestDatabase, tmp_path: Path
) -> None:
    catalogue = trial_catalogue()
    (endpoint,) = list(catalogue["endpoints"].values())[:1]
    endpoint["authentication"] = {"kind": "bearer", "secret": {"file": str(tmp_path / "not-mounted-here")}}
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(catalogue))
    shared = {"DATABASE_URL": database.runtime_url, "INTEGRATION_CATALOGUE": str(file)}

    await _start(
        **shared,
        REQUEST_API_ENABLED="true",
        AUTH_ISSUERS=json.dumps([ISSUER]),
        CURSOR_SECRETS=SECRET,
    )
    refusal = await _refusal(**shared, WORKER_ENABLED="true")

    assert "not-mounted-here" in refusal.message
    assert "PROVIDERS_URL isn't set" in refusal.message


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"catalogueVersion":1,"catalogueVersion":1}']
)
async def test_a_catalogue_that_can_not_be_read_is_told_as_such(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "catalogue.json"
    file.write_bytes(content)

    refusal = await _refusal(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/x", INTEGRATION_CATALOGUE=str(file)
    )

    assert isinstance(refusal, SettingsInvalid)
    assert refusal.faults[0].startswith("INTEGRATION_CATALOGUE at /")


async def test_a_budget_that_outlives_the_lease_is_a_fault_of_the_catalogue(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(trial_catalogue()))

    refusal = await _refusal(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/x",
        INTEGRATION_CATALOGUE=str(file),
        PROVIDERS_URL="http://127.0.0.1:1",
        WORKER_LEASE_SECONDS="10",
        WORKER_RENEW_SECONDS="2",
    )

    assert "BUDGET_ABOVE_LEASE" in refusal.message


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": ""},
        {"audiences": []},
        {"algorithms": []},
        {"algorithms": ["none"]},
        {"algorithms": ["HS256"]},
        {"clockSkewSeconds": 100000},
        {"issuer": "not an address"},
        {"issuer": "http://issuer.example"},
        {"jwksUrl": "http://issuer.example/jwks.json"},
    ],
)
async def test_an_issuer_that_would_let_too_much_through_stops_the_start(change: Mapping[str, Any]) -> None:
    refusal = await _refusal(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/x",
        REQUEST_API_ENABLED="true",
        AUTH_ISSUERS=json.dumps([{**ISSUER, **change}]),
        CURSOR_SECRETS=SECRET,
    )

    assert refusal.code == "SETTINGS_INVALID"
    assert refusal.message.count("AUTH_ISSUERS") == 1
