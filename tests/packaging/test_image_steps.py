"""The steps of the Dockerfile's production stage, followed without a container engine.

What a step writes to `/opt` and `/build` goes to a directory of this test, and `python` is a fresh environment with pip.
Then the tree loses every permission to write, and the image's commands are run from it without any privilege: root gives
up all capabilities before, since the interpreter may lie where no other user can come. What only an engine does (the base
image, its user, layers, the network) isn't shown here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from tests.packaging.deployment_files import ROOT, stages
from tests.plugins.migrated_database import TestDatabase

STAGES = {stage.name: stage for stage in stages()}
BUILDING, SERVICE = STAGES["building"], STAGES["service"]
WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
LOOPBACK = {
    "LISTEN_HOST": "127.0.0.1",
    "MANAGEMENT_HOST": "127.0.0.1",
    "LISTEN_PORT": "0",
    "MANAGEMENT_PORT": "0",
}


@frozen
class Image:
    """What the last stage would hold, as a tree below a directory."""

    directory: Path

    def here(self, text: str) -> str:
        return text.replace("/opt/", f"{self.directory}/opt/")

    def command(self, *arguments: str) -> list[str]:
        words = (self.here(word) for word in (*json.loads(SERVICE.last("ENTRYPOINT")), *arguments))
        return [*(WITHOUT_PRIVILEGE if os.getuid() == 0 else ()), *words]

    def started_with(self, variables: dict[str, str]) -> dict[str, Any]:
        """Return how a process of the image is started: with its own variables alone, and without a home."""
        path = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
        return {"env": {**path, **SERVICE.environment(), **variables}, "cwd": "/", "text": True}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), capture_output=True, check=False, **self.started_with(variables)
        )


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The tree that the steps make, with nothing left that could be written to."""
    directory = tmp_path_factory.mktemp("image")
    made = Image(directory)
    _follow(made)
    _set_writable(directory, writable=False)
    yield made
    _set_writable(directory, writable=True)
    shutil.rmtree(directory)


def _follow(image: Image) -> None:
    work = image.directory / "build"
    work.mkdir()
    (image.directory / "opt").mkdir()
    python = image.directory / "python"
    subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
    variables = {**os.environ, **BUILDING.environment(), "PATH": f"{python / 'bin'}:/usr/bin:/bin"}
    for instruction, value in BUILDING.instructions:
        if instruction == "COPY":
            source, target = value.split()
            shutil.copytree(
                ROOT / source, work / target, ignore=shutil.ignore_patterns("tests", "__pycache__")
            )
        elif instruction == "RUN":
            step = ["/bin/sh", "-ec", image.here(value)]
            ran = subprocess.run(step, cwd=work, env=variables, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr[-3000:]


def _set_writable(directory: Path, *, writable: bool) -> None:
    for place in (directory, *directory.rglob("*")):
        if not place.is_symlink():
            mode = place.stat().st_mode
            place.chmod(mode | 0o200 if writable else mode & ~0o222)


@pytest.mark.exhaustive
def test_the_image_migrates_serves_either_part_and_is_well_from_a_tree_that_nobody_can_write_to(
    image: Image, unmigrated_database: TestDatabase
) -> None:
    migrated = image.run("migrate", MIGRATION_DATABASE_URL=unmigrated_database.migration_url)
    assert (migrated.returncode, migrated.stderr) == (0, "")

    issuer = {"issuer": "http://127.0.0.1:1", "audiences": ["orchestrator"], "algorithms": ["RS256"]}
    api = {
        "REQUEST_API_ENABLED": "true",
        "AUTH_ISSUERS": json.dumps([issuer]),
        "CURSOR_SECRETS": "0123456789abcdef0123456789abcdef",
    }
    for part, tells_worker in ((api, False), ({"WORKER_ENABLED": "true"}, True)):
        variables = {**LOOPBACK, "DATABASE_URL": unmigrated_database.runtime_url, **part}
        _serves(image, variables, tells_worker=tells_worker)


def _serves(image: Image, variables: dict[str, str], *, tells_worker: bool) -> None:
    command = image.command(*json.loads(SERVICE.last("CMD")))
    with subprocess.Popen(command, stdout=subprocess.PIPE, **image.started_with(variables)) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        port = said["managementUrl"].rpartition(":")[2]
        asked = image.run("health", **{**variables, "MANAGEMENT_PORT": port})
        process.terminate()
        assert process.wait(timeout=60) == 0
    assert (asked.returncode, asked.stdout) == (0, "200\n")
    assert said["worker"] is tells_worker
    assert (said["apiUrl"] is None) is tells_worker


@pytest.mark.exhaustive
def test_nothing_of_the_image_can_be_written_to(image: Image) -> None:
    place = image.here("/opt/orchestrator/written")
    command = [*image.command()[:-1], "/bin/sh", "-c", f": > {place}"]
    written = subprocess.run(command, capture_output=True, check=False, **image.started_with({}))
    assert written.returncode != 0
    assert not Path(place).exists()


@pytest.mark.exhaustive
def test_the_image_holds_neither_the_sandbox_nor_pip(image: Image) -> None:
    python = image.here("/opt/orchestrator/bin/python")
    for module in ("orchestrator_sandbox", "pip"):
        ran = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True, check=False)
        assert f"No module named '{module}'" in ran.stderr
