"""The examples for hosts of the domain, run as they stand."""

import ast
import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from examples.embed_in_a_service import returns_desk
from tests.plugins.migrated_database import TestDatabase

ROOMS = (
    (Path(__file__).parents[2] / "packages" / "orchestrator-domain" / "README.md")
    .read_text(encoding="utf-8")
    .split("## Rooms beside them", 1)[1]
    .split("\n## ", 1)[0]
)
EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "custom_action_handler": "Ada WELCOMED formal-1\nBen UNREACHABLE None\n",
    "custom_decision_evaluator": (
        "35 URGENT ['very-slow']\n90 WAITING []\n130 WAITING []\n150 URGENT ['very-fast']\n"
    ),
    "simulate_offline": (
        "cheap: NONE, LENT, as expected\n"
        "just valuable: HALF, LENT, as expected\n"
        "late, then gone: decline, DECLINED, as expected\n"
        "unknown borrower: EVALUATION_ERROR, ASKED, as expected\n"
        "{'HALF': 270, 'NONE': 30, 'REFUSE': 700}\n"
    ),
}


def printed(example: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / example / "example.py"), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("example", PRINTED)
def test_an_example_prints_what_it_shows(example: str) -> None:
    assert printed(example) == PRINTED[example]


def test_the_domain_and_the_store_work_in_a_script(database: TestDatabase) -> None:
    told = printed("embed_with_postgres", database.runtime_url)

    assert told == "run ended SUCCEEDED\nREFUNDED revision 2 refund 80\n"
    assert database.execute("SELECT count(*) FROM orchestrator.audit_entry") == [(3,)]


def test_the_script_without_a_database_says_how_it_is_used() -> None:
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "embed_with_postgres" / "example.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("Use the domain over PostgreSQL in a script")


@pytest.fixture
def desk(tmp_path: Path) -> "Desk":
    return Desk(str(tmp_path / "returns.sqlite"))


class Desk:
    """Ask the embedding service, each time anew over the same database."""

    def __init__(self, database: str) -> None:
        self._database = database

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        async def asked() -> httpx2.Response:
            transport = httpx2.ASGITransport(app=returns_desk.build_app(self._database))
            async with httpx2.AsyncClient(transport=transport, base_url="http://desk") as client:
                return await client.post(path, content=json.dumps(body), headers=headers)

        return asyncio.run(asked())


def test_a_service_with_its_own_tables_decides_by_the_flow(desk: Desk) -> None:
    registered = desk.post("/returns", {"article": "ladder", "price": 80.10})
    assert (registered.status_code, registered.json()["state"]) == (201, "RECEIVED")
    path = f"/returns/{registered.json()['id']}/inspection"

    stale = desk.post(path, {"wear": 0.05}, **{"If-Match": '"7"'})
    inspected = desk.post(path, {"wear": 0.05}, **{"If-Match": registered.headers["ETag"]})
    again = desk.post(path, {"wear": 0.05}, **{"If-Match": inspected.headers["ETag"]})

    assert (stale.status_code, stale.json()["code"]) == (412, "REVISION_MISMATCH")
    assert inspected.status_code == 200
    assert inspected.json()["state"] == "REFUNDED"
    assert inspected.json()["data"] == {"article": "ladder", "price": 80.1, "wear": 0.05, "refund": 80.1}
    assert (again.status_code, again.json()["code"]) == (409, "INVALID_EVENT")


def test_what_the_flow_refuses_is_refused_by_the_service_with_its_place(desk: Desk) -> None:
    refused = desk.post("/returns", {"article": "ladder", "price": -1})

    assert (refused.status_code, refused.json()["pointer"]) == (422, "/price")


def test_every_example_for_hosts_is_run_here() -> None:
    scripts = {file.parent.name for file in EXAMPLES.glob("*/*.py")}
    assert scripts == {*PRINTED, "embed_in_a_service", "embed_with_postgres"}


def test_examples_import_the_public_names_and_the_rooms_that_the_readme_tells_alone() -> None:
    rooms = [*re.findall(r"`orchestrator_domain\.([a-z_.]+)`", ROOMS), "request.creation"]
    assert len(rooms) == 9
    for file in EXAMPLES.glob("*/*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("orchestrator_domain"):
                room = (node.module or "").removeprefix("orchestrator_domain").removeprefix(".")
                assert not room or any(f"{room}.".startswith(f"{public}.") for public in rooms), file
