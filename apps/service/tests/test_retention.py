"""`retention run`: what is due is told first, erased only when asked for, by the role for it, and leaves its proof."""

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from attrs import define
from tests.plugins.lending_past import lending_document, lending_past
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.ports.request_store import VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.examples import CLERK
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_service.cli import main

FOUND: JsonObject = {"found": True, "shelf": "A1-personal"}
MISSING: JsonObject = {"found": False, "shelf": "B2-personal"}
ALL = ["HISTORY", "REQUEST_DATA", "INITIAL_DATA", "EVENT_DATA", "RESULTS", "DOCUMENTS", "EVIDENCE"]


@define(kw_only=True)
class Desk:
    """A past with one request that was lent, one that was withdrawn, one open and one that a worker still has to run."""

    database: TestDatabase
    directory: Path
    capsys: pytest.CaptureFixture[str]
    lent: RequestId
    withdrawn: RequestId
    open: RequestId
    waiting: RequestId

    def run(self, *arguments: str) -> tuple[int, list[Any]]:
        code = main(["retention", "run", "--format", "json", *arguments])
        return code, [json.loads(line) for line in self.capsys.readouterr().out.splitlines()]

    def policy(self, **changes: Any) -> list[str]:
        rule = {"name": "ended-long-ago", "afterDays": 30, "erase": ALL, **changes}
        file = self.directory / "policy.json"
        file.write_text(json.dumps({"rules": [rule]}))
        return ["--policy", str(file)]

    def age(self, days: int, *requests: RequestId) -> None:
        """Let time pass: move the last change of requests back, as only somebody who owns the machine could."""
        self.database.execute(
            "UPDATE orchestrator.request_instance SET updated_at = updated_at - %s WHERE id = ANY (%s)",
            timedelta(days=days),
            [*requests],
        )

    def everything(self) -> str:
        """Return every row that could hold something personal, as text."""
        tables = ("request_instance", "execution", "action_execution", "audit_entry", "document_reference")
        return "\n".join(
            str(row)
            for table in tables
            for row in self.database.execute(f"SELECT to_jsonb(t) FROM orchestrator.{table} t ORDER BY id")
        )

    def audit(self) -> tuple[int, Any]:
        code = main(["audit", "verify", "--database", self.database.runtime_url, "--format", "json"])
        return code, json.loads(self.capsys.readouterr().out.splitlines()[-1])


@pytest.fixture
def desk(
    database: TestDatabase,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    environment: pytest.MonkeyPatch,
) -> Desk:
    async def happen() -> Sequence[RequestId]:
        async with lending_past(database) as past:
            return [
                await past.request(MISSING, FOUND),
                await past.request(None),
                await past.request(MISSING),
                await past.request({}),
            ]

    environment.setenv("RETENTION_DATABASE_URL", database.retention_url)
    lent, withdrawn, left_open, waiting = asyncio.run(happen())
    desk = Desk(
        database=database,
        directory=tmp_path,
        capsys=capsys,
        lent=lent,
        withdrawn=withdrawn,
        open=left_open,
        waiting=waiting,
    )
    desk.age(31, lent, left_open, waiting)
    return desk


def test_a_run_without_execute_tells_what_is_due_and_changes_nothing(desk: Desk) -> None:
    before = desk.everything()

    code, said = desk.run(*desk.policy())

    assert code == 0
    assert said == [
        {
            "rule": "ended-long-ago",
            "erase": sorted(ALL),
            "executed": False,
            "requests": 1,
            "rows": {"historyEntries": 5, "executions": 2, "results": 2, "documents": 0, "resolutions": 0},
            "outcomes": {},
        }
    ]
    assert desk.everything() == before


def test_what_is_erased_is_gone_and_the_chain_still_proves_the_rest(desk: Desk) -> None:
    code, said = desk.run(*desk.policy(), "--execute")

    assert (code, said[0]["outcomes"]) == (0, {"ERASED": 1})
    assert "A1-personal" not in desk.everything()
    assert "B2-personal" in desk.everything(), "the open request keeps its data"
    assert desk.audit() == (
        0,
        {"requests": 4, "faulty": 0, "decisionsVerified": 2, "decisionsErased": 2, "requestsErased": 1},
    )


def test_no_hash_is_left_that_a_guess_could_be_tried_on(desk: Desk) -> None:
    desk.run(*desk.policy(), "--execute")

    hashes = desk.database.execute(
        "SELECT payload_hash FROM orchestrator.execution WHERE request_id = %s"
        " UNION SELECT input_hash FROM orchestrator.action_execution a"
        " JOIN orchestrator.execution e ON e.id = a.execution_id WHERE e.request_id = %s"
        " UNION SELECT payload_hash FROM orchestrator.request_creation WHERE request_id = %s",
        desk.lent,
        desk.lent,
        desk.lent,
    )
    assert hashes == [("0" * 64,)]


def test_an_erasure_is_recorded_without_a_value(desk: Desk) -> None:
    desk.run(*desk.policy(erase=["HISTORY", "RESULTS"]), "--execute")

    ((actor, detail),) = desk.database.execute(
        "SELECT actor_subject, detail FROM orchestrator.audit_entry WHERE kind = 'PERSONAL_DATA_ERASED'"
    )
    run = detail.pop("run")
    assert (actor, len(run)) == ("system", 36)
    assert detail == {"erased": ["HISTORY", "RESULTS"], "rule": "ended-long-ago", "reference": None}


def test_a_rule_of_any_name_is_recorded_by_it(desk: Desk) -> None:
    desk.run(*desk.policy(name="on-demand"), "--execute")
    assert desk.database.execute(
        "SELECT detail ->> 'rule' FROM orchestrator.audit_entry WHERE kind = 'PERSONAL_DATA_ERASED'"
    ) == [("on-demand",)]


def test_running_again_finds_nothing_and_records_nothing(desk: Desk) -> None:
    desk.run(*desk.policy(), "--execute")
    before = desk.everything()

    code, said = desk.run(*desk.policy(), "--execute")

    assert (code, said[0]["requests"], said[0]["outcomes"]) == (0, 0, {})
    assert desk.everything() == before


def test_a_later_rule_erases_what_an_earlier_one_left(desk: Desk) -> None:
    desk.run(*desk.policy(erase=["HISTORY"]), "--execute")
    desk.run(*desk.policy(), "--execute")

    details = desk.database.execute(
        "SELECT detail ->> 'erased' FROM orchestrator.audit_entry"
        " WHERE kind = 'PERSONAL_DATA_ERASED' ORDER BY sequence"
    )
    assert [json.loads(row[0]) for row in details] == [["HISTORY"], sorted(set(ALL) - {"HISTORY"})]
    assert desk.audit()[0] == 0


def test_batches_of_one_come_to_the_same(desk: Desk) -> None:
    desk.age(31, desk.withdrawn)

    code, said = desk.run(*desk.policy(), "--execute", "--batch", "1")

    assert (code, said[0]["outcomes"]) == (0, {"ERASED": 2})
    assert desk.audit()[1]["requestsErased"] == 2


SELECTIONS: list[tuple[dict[str, Any], int]] = [
    ({"afterDays": 32}, 0),
    ({"afterDays": 0}, 2),
    ({"requestTypes": ["LENDING"]}, 1),
    ({"requestTypes": ["CREDIT"]}, 0),
    ({"flows": ["LENDING"]}, 1),
    ({"flows": ["CREDIT"]}, 0),
    ({"states": ["LENT"]}, 1),
    ({"states": ["WITHDRAWN"]}, 0),
    ({"scopes": ["NORTH"]}, 1),
    ({"scopes": ["SOUTH"]}, 0),
    ({"openRequests": True}, 2),
]


def test_a_rule_means_what_it_selects_and_never_what_an_execution_blocks(desk: Desk) -> None:
    # One past for all of them: nothing is changed by asking.
    meant = [desk.run(*desk.policy(**changes))[1][0]["requests"] for changes, _ in SELECTIONS]
    assert meant == [due for _, due in SELECTIONS]


def test_a_run_that_breaks_off_is_taken_up_by_the_next_one(desk: Desk) -> None:
    desk.age(31, desk.withdrawn)
    desk.database.execute(
        "CREATE FUNCTION public.break_off() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN IF NEW.request_id = '{desk.withdrawn}' THEN RAISE EXCEPTION 'broken off'; END IF; RETURN NEW; END $$"
    )
    desk.database.execute(
        "CREATE TRIGGER break_off BEFORE INSERT ON orchestrator.audit_entry"
        " FOR EACH ROW EXECUTE FUNCTION public.break_off()"
    )
    assert main(["retention", "run", *desk.policy(), "--execute", "--batch", "1"]) == 2
    assert "A1-personal" not in desk.everything(), "the batch before is done"
    desk.capsys.readouterr()
    desk.database.execute("DROP FUNCTION public.break_off CASCADE")

    assert desk.run(*desk.policy(), "--execute")[1][0]["outcomes"] == {"ERASED": 1}
    assert desk.audit()[1]["requestsErased"] == 2


def test_what_is_erased_is_left_out_of_a_replay(desk: Desk) -> None:
    desk.run(*desk.policy(), "--execute")
    flow = desk.directory / "flow.json"
    flow.write_text(json.dumps(lending_document(version=2)))

    main(["flow", "replay", "--database", desk.database.runtime_url, "--flow", str(flow), "--format", "json"])

    assert json.loads(desk.capsys.readouterr().out)["requestsNotReplayable"] == 1


def test_the_policy_of_the_document_can_be_taken(desk: Desk) -> None:
    document = Path(__file__).parents[3] / "docs" / "RETENTION.md"
    (block,) = re.findall(r"```json\n(.*?)```", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    file = desk.directory / "policy.json"
    file.write_text(block)
    assert desk.run("--policy", str(file))[0] == 0


def test_a_request_that_somebody_holds_is_left_for_the_next_run(desk: Desk) -> None:
    with psycopg.connect(desk.database.runtime_url) as holder:
        holder.execute("SELECT FROM orchestrator.request_instance WHERE id = %s FOR UPDATE", [desk.lent])
        code, said = desk.run(*desk.policy(), "--execute")
    assert (code, said[0]["outcomes"]) == (1, {"BUSY": 1})

    assert desk.run(*desk.policy(), "--execute")[1][0]["outcomes"] == {"ERASED": 1}


def test_one_request_is_erased_on_demand_whatever_its_age(desk: Desk) -> None:
    code, said = desk.run("--request", str(desk.withdrawn), "--reference", "DSR-17", "--execute")

    assert (code, said[0]["outcomes"]) == (0, {"ERASED": 1})
    ((detail,),) = desk.database.execute(
        "SELECT detail FROM orchestrator.audit_entry WHERE kind = 'PERSONAL_DATA_ERASED'"
    )
    assert (detail["reference"], detail["rule"]) == ("DSR-17", None)


def test_a_demand_that_can_not_be_met_says_why(desk: Desk) -> None:
    desk.run("--request", str(desk.lent), "--execute")
    nobody = "01978c5e-0000-7000-8000-000000000001"
    for wanted, told in (
        (desk.open, "short of an end state"),
        (desk.waiting, "An execution blocks this request"),
        (nobody, "There is no such request."),
        (desk.lent, "erased already"),
    ):
        assert main(["retention", "run", "--request", str(wanted), "--execute"]) == 2
        assert told in desk.capsys.readouterr().err


def test_an_open_request_is_erased_if_that_is_said_and_takes_no_more_events(desk: Desk) -> None:
    assert desk.run("--request", str(desk.open), "--open-requests", "--execute")[0] == 0

    async def shown() -> VisibleRequest | None:
        async def story(work: Transaction) -> VisibleRequest | None:
            return await work.requests.find_visible(desk.open, CLERK)

        async with PostgresEngine(ConnectionSettings(url=desk.database.runtime_url)) as engine:
            return await PostgresUnitOfWork(engine).run(story)

    visible = asyncio.run(shown())
    assert visible is not None
    assert (visible.request.data, visible.request.data_erased_at is None) == ({}, False)
    assert desk.audit()[0] == 0


@pytest.mark.parametrize("url", ["runtime_url", "migration_url"])
def test_no_other_role_can_run_it(desk: Desk, environment: pytest.MonkeyPatch, url: str) -> None:
    environment.setenv("RETENTION_DATABASE_URL", getattr(desk.database, url))

    assert main(["retention", "run", *desk.policy(), "--execute"]) == 2
    assert desk.capsys.readouterr().err.startswith("RETENTION_REFUSED: This role may not erase")


def test_a_schema_from_before_is_told_and_not_tried(
    unmigrated_database: TestDatabase, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    migrate(unmigrated_database.migration_url, target="0005")
    environment.setenv("RETENTION_DATABASE_URL", unmigrated_database.retention_url)

    assert main(["retention", "run", "--request", "01978c5e-0000-7000-8000-000000000001"]) == 2
    assert "run the migrations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--request", "x"], "takes the id of a request"),
        (["--request", "x", "--execute", "--dry-run"], "exclude one another"),
        (["--policy", "missing.json"], "can't be read"),
        (["--policy", "missing.json", "--reference", "R"], "go with --request"),
    ],
)
def test_what_is_called_wrongly_is_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retention", "run", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_each_fault_of_a_policy_is_told_with_its_place(desk: Desk) -> None:
    _, file = arguments = desk.policy(erase=["EVERYTHING"], afterDays=-1)
    assert main(["retention", "run", *arguments]) == 2
    days, erase = desk.capsys.readouterr().err.splitlines()
    assert days.startswith(
        f"UNUSABLE_FILE: {file}:1:39: No retention policy has this at /rules/0/afterDays: "
    )
    assert erase.startswith(f"UNUSABLE_FILE: {file}:1:66: No retention policy has this at /rules/0/erase/0: ")
