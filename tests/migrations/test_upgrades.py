"""From one release to the next: data of every revision goes on, and for one step either code runs on either schema."""

import asyncio
import hashlib
import json
import re
from pathlib import Path

import psycopg
import pytest
from tests.plugins.lending_past import LendingPast, lending_past
from tests.plugins.migrated_database import TestDatabase

import orchestrator_postgres
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import LeaseOwner, RequestId
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.schema_revision import KNOWN_REVISIONS
from orchestrator_postgres.start_check import start_faults
from orchestrator_service.cli import main

RELEASED = Path(__file__).with_name("released")
VERSIONS = Path(orchestrator_postgres.__file__).parent / "migrations" / "versions"
PREVIOUS_REVISION = KNOWN_REVISIONS[-2]
FOUND: JsonObject = {"found": True, "shelf": "A1"}
MISSING: JsonObject = {"found": False}
_OF_RETENTION = re.compile("retention|erase_personal_data")
"""The names of the statements that the role which erases sends; all others are the service's."""


def audited(database: TestDatabase, capsys: pytest.CaptureFixture[str]) -> tuple[int, int, int]:
    """Return how many requests and decisions hold, and how many are faulty."""
    main(["audit", "verify", "--database", database.runtime_url, "--format", "json"])
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    return said["requests"], said["decisionsVerified"], said["faulty"]


async def some_past(past: LendingPast) -> RequestId:
    """Let one request end, one stay open, and one wait for its worker; return the last one."""
    await past.request(MISSING, FOUND)
    await past.request(MISSING)
    return await past.request({})


async def finish(past: LendingPast) -> None:
    past.answer(FOUND)
    for claimed in await past.queue.claim(owner=LeaseOwner("later"), limit=5, lease_seconds=60):
        await past.runner.run(claimed)


EARLIER = [
    # The first and the last of them stand for all in every run.
    pytest.param(
        each, marks=[] if each in (KNOWN_REVISIONS[0], PREVIOUS_REVISION) else [pytest.mark.exhaustive]
    )
    for each in KNOWN_REVISIONS[:-1]
]


@pytest.mark.parametrize("revision", EARLIER)
def test_what_an_earlier_revision_holds_goes_on_at_the_newest(
    unmigrated_database: TestDatabase, capsys: pytest.CaptureFixture[str], revision: str
) -> None:
    async def upgraded() -> None:
        migrate(unmigrated_database.migration_url, target=revision)
        async with lending_past(unmigrated_database) as past:
            await some_past(past)
            # The processes stay while the schema moves on under them.
            await asyncio.to_thread(migrate, unmigrated_database.migration_url)
            await finish(past)
            await past.request(FOUND)

    asyncio.run(upgraded())

    assert audited(unmigrated_database, capsys) == (4, 5, 0)


def test_this_code_runs_on_the_schema_of_the_release_before(
    unmigrated_database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run_on_the_old_schema() -> tuple[str, ...]:
        migrate(unmigrated_database.migration_url, target=PREVIOUS_REVISION)
        faults = await start_faults(ConnectionSettings(url=unmigrated_database.runtime_url))
        async with lending_past(unmigrated_database) as past:
            await some_past(past)
            await finish(past)
        return faults

    assert asyncio.run(run_on_the_old_schema()) == ()
    assert audited(unmigrated_database, capsys) == (3, 4, 0)


def released_statements(revision: str) -> dict[str, str]:
    sections = re.split(
        r"^-- (.+)\n", (RELEASED / f"{revision}.sql").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return dict(zip(sections[1::2], sections[2::2], strict=True))


def test_every_statement_of_the_release_before_is_planned_on_the_newest_schema(
    database: TestDatabase,
) -> None:
    refused: dict[str, str] = {}
    with (
        psycopg.connect(database.runtime_url, autocommit=True) as runtime,
        psycopg.connect(database.retention_url, autocommit=True) as retention,
    ):
        for name, statement in released_statements(PREVIOUS_REVISION).items():
            connection = retention if _OF_RETENTION.match(name) else runtime
            try:
                # Names and kinds are looked up and privileges checked, as when it is executed; nothing is.
                connection.execute(f"EXPLAIN (GENERIC_PLAN) {_numbered(statement)}".encode())
            except psycopg.Error as fault:
                refused[name] = str(fault)
    assert refused == {}


def test_a_statement_that_the_newest_schema_does_not_serve_is_found_out(database: TestDatabase) -> None:
    database.execute("ALTER TABLE orchestrator.execution RENAME COLUMN claims_without_progress TO claims")
    statement = _numbered(released_statements(PREVIOUS_REVISION)["claim_mark"])
    with psycopg.connect(database.runtime_url) as connection, pytest.raises(psycopg.errors.UndefinedColumn):
        connection.execute(f"EXPLAIN (GENERIC_PLAN) {statement}".encode())


def test_the_newest_revision_serves_the_code_of_the_one_before(database: TestDatabase) -> None:
    ((since,),) = database.execute("SELECT orchestrator.serves_code_since()")
    assert since == PREVIOUS_REVISION


@pytest.mark.parametrize("revision", KNOWN_REVISIONS)
def test_a_released_revision_is_as_it_was_released(revision: str) -> None:
    (file,) = VERSIONS.glob(f"{revision}_*.sql")
    frozen = json.loads((RELEASED / "checksums.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(file.read_bytes()).hexdigest() == frozen[revision], "add a revision instead"


def _numbered(statement: str) -> str:
    """Return the statement with $1, $2 for psycopg's placeholders, the same number for the same name."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1] or f"unnamed {len(numbers)}"
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    return re.sub(r"%\((\w+)\)s|%s|%%", number, statement)
