"""`doctor`: each check says ok, warn or fault, with what to do; and tells no secret."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
import pytest
from attrs import evolve
from tests.migrations.rows import insert_all
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.trial_catalogue import trial_catalogue

from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.examination import Examination, QueueAges, examine
from orchestrator_postgres.schema_revision import KNOWN_REVISIONS
from orchestrator_service.cli import main
from orchestrator_service.doctor.database_checks import (
    clock_finding,
    database_findings,
    sweeper_finding,
    transaction_finding,
    waiting_finding,
)
from orchestrator_service.doctor.finding import Health

SECRET = "abcdefghijklmnopqrstuvwxyz012345"
WELL = Examination(
    is_standby=False,
    schema_fault=None,
    schema_behind=False,
    another_role=None,
    powers_too_many=(),
    powers_missing=(),
    guards_off=(),
    clock_ahead_seconds=0.0,
    clock_uncertain_seconds=0.0,
    longest_transaction_seconds=0.0,
    sessions_hidden=0,
    notified=True,
    queue=QueueAges(longest_due_seconds=None, longest_expired_seconds=None),
)


@pytest.fixture
def examined(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, Mapping[str, list[tuple[str, str]]]]]:
    """Run the command with settings; return its code and what each check says."""

    def ran(**variables: str) -> tuple[int, Mapping[str, list[tuple[str, str]]]]:
        for name, value in variables.items():
            environment.setenv(name, value)
        code = main(["doctor", "--json"])
        text = capsys.readouterr().out
        assert "hunter2" not in text
        assert SECRET not in text
        said: dict[str, list[tuple[str, str]]] = {}
        for each in json.loads(text)["checks"]:
            said.setdefault(each["check"], []).append((each["health"], each["says"]))
            assert (each["remedy"] is None) is (each["health"] == "ok")
        return code, said

    return ran


def healths(said: Mapping[str, list[tuple[str, str]]]) -> dict[str, set[str]]:
    return {check: {health for health, _ in each} for check, each in said.items()}


def test_a_deployment_that_could_serve_is_well(examined: Any, database: TestDatabase) -> None:
    code, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")

    assert code == 0
    assert healths(said) == {
        check: {"ok"}
        for check in (
            "settings",
            "database",
            "schema",
            "role",
            "guards",
            "clock",
            "notifications",
            "transactions",
            "sweeper",
            "queue",
            "catalogue",
        )
    }


def test_for_people_each_check_is_a_line_and_each_remedy_another(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database: TestDatabase
) -> None:
    environment.setenv("DATABASE_URL", database.runtime_url)
    assert main(["doctor"]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "fault  settings       Nothing is switched on."
    assert second.strip().startswith("→ Set REQUEST_API_ENABLED")


def test_settings_that_can_not_be_taken_are_a_fault_and_hide_nothing_else(
    examined: Any, database: TestDatabase
) -> None:
    code, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="maybe", WORKER_POLL_MSS="1")

    assert code == 1
    assert {"WORKER_ENABLED is neither true nor false."} <= {says for _, says in said["settings"]}
    assert any("WORKER_POLL_MSS" in says for _, says in said["settings"])
    assert healths(said)["database"] == {"ok"}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://someone:hunter2@127.0.0.1:1/orchestrator", "No database answers"),
        ("postgresql://someone:hunter2@127.0.0.1:1/orchestrator?hunter2=1", "This URL can't be tried"),
        ("", "No database is named."),
    ],
)
def test_a_database_that_does_not_answer_is_a_fault(examined: Any, url: str, says: str) -> None:
    code, said = examined(DATABASE_URL=url, WORKER_ENABLED="true")
    assert (code, said["database"][0][0]) == (1, "fault")
    assert said["database"][0][1].startswith(says)


def test_a_database_that_refuses_the_login_is_a_fault(examined: Any, database: TestDatabase) -> None:
    _, said = examined(
        DATABASE_URL=database.runtime_url.replace(":runtime@", ":hunter2@"), WORKER_ENABLED="true"
    )
    assert said["database"][0][1].startswith("The database answers and can't be used with this URL")


@pytest.mark.parametrize(
    ("role", "says"),
    [
        ("superuser_url", "The role is a superuser."),
        ("migration_url", "The role owns the schema."),
        ("retention_url", "The role is no member of orchestrator_runtime."),
    ],
)
def test_a_role_of_another_duty_is_one_fault(
    examined: Any, database: TestDatabase, role: str, says: str
) -> None:
    code, said = examined(DATABASE_URL=getattr(database, role), WORKER_ENABLED="true")
    assert (code, said["role"]) == (1, [("fault", says)])


def test_a_role_that_may_too_much_is_a_fault_for_each_power(examined: Any, database: TestDatabase) -> None:
    database.execute("GRANT DELETE, TRUNCATE ON orchestrator.execution TO orchestrator_runtime")
    code, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")
    assert code == 1
    assert sorted(said["role"]) == [
        ("fault", "The role can delete from the table execution."),
        ("fault", "The role can empty the table execution."),
    ]


def test_each_guard_that_is_switched_off_is_a_fault_and_none_of_the_role(
    examined: Any, database: TestDatabase
) -> None:
    database.execute("ALTER TABLE orchestrator.audit_entry DISABLE TRIGGER USER")
    code, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")
    assert (code, healths(said)["role"]) == (1, {"ok"})
    assert sorted(said["guards"]) == [
        ("fault", f"The guard audit_entry_{guard} of the table audit_entry is missing or switched off.")
        for guard in ("append_only", "erasure_proven", "never_emptied")
    ]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (
            "REVOKE INSERT ON orchestrator.audit_entry FROM orchestrator_runtime",
            "The role can't add rows to the table audit_entry.",
        ),
        (
            "REVOKE UPDATE (lease_until) ON orchestrator.execution FROM orchestrator_runtime",
            "The role can't change lease_until in the table execution.",
        ),
    ],
)
def test_a_role_that_may_too_little_is_a_fault(
    examined: Any, database: TestDatabase, statement: str, says: str
) -> None:
    database.execute(statement)
    assert examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")[1]["role"] == [("fault", says)]


def test_a_schema_that_is_too_old_is_a_fault_and_the_one_before_a_warning(
    examined: Any, database: TestDatabase
) -> None:
    for revision, health in ((KNOWN_REVISIONS[0], "fault"), (KNOWN_REVISIONS[-2], "warn")):
        database.execute(f"UPDATE orchestrator.alembic_version SET version_num = '{revision}'")
        _, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")
        assert said["schema"][0][0] == health


def test_flows_that_were_not_read_are_not_said_to_be_well(examined: Any, database: TestDatabase) -> None:
    database.execute(f"UPDATE orchestrator.alembic_version SET version_num = '{KNOWN_REVISIONS[0]}'")
    _, said = examined(DATABASE_URL=database.runtime_url, WORKER_ENABLED="true")
    assert healths(said)["catalogue"] == {"warn"}


def test_a_lease_that_nobody_takes_over_and_an_event_that_nobody_runs_are_told(
    examined: Any, past: TestDatabase
) -> None:
    past.execute("UPDATE orchestrator.execution SET next_attempt_at = now() - interval '5 minutes'")
    assert examined(DATABASE_URL=past.runtime_url, WORKER_ENABLED="true")[1]["queue"][0][0] == "warn"
    past.execute(
        "UPDATE orchestrator.execution SET status = 'RUNNING', lease_owner = 'x',"
        " lease_until = now() - interval '5 minutes'"
    )
    code, said = examined(DATABASE_URL=past.runtime_url, WORKER_ENABLED="true")
    assert (code, said["sweeper"][0][0]) == (1, "fault")


@pytest.fixture
def past(database: TestDatabase) -> TestDatabase:
    """A database with one accepted event."""
    with psycopg.connect(database.superuser_url) as connection:
        insert_all(connection)
    return database


def test_an_issuer_whose_keys_can_not_be_had_is_a_fault(examined: Any, database: TestDatabase) -> None:
    issuer = {"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["RS256"]}
    _, said = examined(
        DATABASE_URL=database.runtime_url,
        REQUEST_API_ENABLED="true",
        CURSOR_SECRETS=SECRET,
        AUTH_ISSUERS=json.dumps([issuer]),
    )
    ((health, says),) = said["issuer"]
    assert (health, says.startswith("The keys of http://127.0.0.1:1 can't be had")) == ("fault", True)


def test_an_issuer_that_can_not_be_trusted_is_a_fault(examined: Any, database: TestDatabase) -> None:
    issuer = {"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["none"]}
    _, said = examined(
        DATABASE_URL=database.runtime_url,
        REQUEST_API_ENABLED="true",
        CURSOR_SECRETS=SECRET,
        AUTH_ISSUERS=json.dumps([issuer]),
    )
    assert said["issuer"][0][0] == "fault"


def test_a_broken_catalogue_is_a_fault(examined: Any, database: TestDatabase, tmp_path: Any) -> None:
    catalogue = trial_catalogue()
    catalogue["integrations"][0]["endpoint"] = "nowhere"
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(catalogue))
    _, said = examined(
        DATABASE_URL=database.runtime_url, WORKER_ENABLED="true", INTEGRATION_CATALOGUE=str(file)
    )
    assert "fault" in healths(said)["catalogue"]


async def test_an_open_transaction_of_the_same_role_is_seen(database: TestDatabase) -> None:
    settings = ConnectionSettings(url=database.runtime_url)
    async with await psycopg.AsyncConnection.connect(database.runtime_url) as holder:
        await holder.execute("SELECT 1")
        assert (await examine(settings)).longest_transaction_seconds > 0
    assert (await examine(settings)).longest_transaction_seconds == 0


async def test_the_clock_of_this_machine_is_held_against_the_database(database: TestDatabase) -> None:
    settings = ConnectionSettings(url=database.runtime_url)
    found = await examine(settings, wall_seconds=lambda: 0.0)
    assert clock_finding(found).health is Health.FAULT


@pytest.mark.parametrize(
    ("finding", "health"),
    [
        (clock_finding(evolve(WELL, clock_ahead_seconds=4, clock_uncertain_seconds=0)), Health.OK),
        (clock_finding(evolve(WELL, clock_ahead_seconds=-9, clock_uncertain_seconds=0)), Health.WARN),
        (clock_finding(evolve(WELL, clock_ahead_seconds=9, clock_uncertain_seconds=8)), Health.OK),
        (clock_finding(evolve(WELL, clock_ahead_seconds=-61, clock_uncertain_seconds=0)), Health.FAULT),
        (transaction_finding(evolve(WELL, longest_transaction_seconds=60)), Health.OK),
        (transaction_finding(evolve(WELL, longest_transaction_seconds=61)), Health.WARN),
        (transaction_finding(evolve(WELL, longest_transaction_seconds=3601)), Health.FAULT),
        (
            sweeper_finding(QueueAges(longest_due_seconds=None, longest_expired_seconds=9), lease_seconds=60),
            Health.OK,
        ),
        (
            sweeper_finding(
                QueueAges(longest_due_seconds=None, longest_expired_seconds=11), lease_seconds=60
            ),
            Health.WARN,
        ),
        (
            sweeper_finding(
                QueueAges(longest_due_seconds=None, longest_expired_seconds=61), lease_seconds=60
            ),
            Health.FAULT,
        ),
        (waiting_finding(QueueAges(longest_due_seconds=60, longest_expired_seconds=None)), Health.OK),
        (waiting_finding(QueueAges(longest_due_seconds=61, longest_expired_seconds=None)), Health.WARN),
    ],
)
def test_a_measure_is_judged_by_its_bounds(finding: Any, health: Health) -> None:
    assert finding.health is health


@pytest.mark.parametrize(
    ("changes", "check", "health"),
    [
        ({"is_standby": True}, "database", Health.FAULT),
        ({"notified": False}, "notifications", Health.WARN),
    ],
)
def test_a_standby_is_a_fault_and_a_deaf_listener_a_warning(
    changes: dict[str, Any], check: str, health: Health
) -> None:
    found = {each.check: each.health for each in database_findings(evolve(WELL, **changes), lease_seconds=60)}
    assert found[check] is health
