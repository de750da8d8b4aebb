"""The directory that a sandbox keeps its data, logs and addresses in."""

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.server_user import server_user
from orchestrator_sandbox.state_directory import claimed_directory, temporary_directory


def test_a_new_directory_is_made_and_can_be_claimed_again(tmp_path: Path) -> None:
    with claimed_directory(tmp_path / "deep" / "state") as state:
        (state.path / "kept").touch()
    with claimed_directory(tmp_path / "deep" / "state") as state:
        assert (state.path / "kept").exists()


def test_a_directory_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with (
        pytest.raises(SandboxFailure, match="holds files that no sandbox wrote"),
        claimed_directory(tmp_path),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(SandboxFailure, match="can't be used: File exists"),
        claimed_directory(tmp_path / "file"),
    ):
        pass


def test_a_second_claim_is_refused_and_leaves_the_addresses_of_the_running_sandbox(tmp_path: Path) -> None:
    with claimed_directory(tmp_path / "state") as first:
        first.announce({"apiUrl": "http://127.0.0.1:1"})
        with (
            pytest.raises(SandboxFailure, match="A sandbox runs in"),
            claimed_directory(tmp_path / "state"),
        ):
            pass
        assert json.loads(first.ready_file.read_text()) == {"apiUrl": "http://127.0.0.1:1"}


def test_only_the_owner_reads_the_addresses(tmp_path: Path) -> None:
    with claimed_directory(tmp_path / "state") as state:
        state.announce({"databaseUrl": "postgresql://"})
        assert stat.S_IMODE(state.ready_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(state.path.stat().st_mode) & 0o066 == 0


def test_addresses_of_a_sandbox_that_died_are_withdrawn(tmp_path: Path) -> None:
    with claimed_directory(tmp_path / "state") as state:
        ready_file = state.ready_file
    ready_file.write_text("{}")
    with claimed_directory(tmp_path / "state"):
        assert not ready_file.exists()


def test_a_temporary_directory_goes_with_its_block_and_keeps_no_database() -> None:
    with temporary_directory() as state:
        assert state.path.is_dir()
        assert state.database_directory() is None
    assert not state.path.exists()


def test_kept_logs_outlive_their_directory() -> None:
    with temporary_directory() as state:
        (state.path / "api.log").write_text("why")
        kept = state.kept_logs()
    assert [path.read_text() for path in kept.iterdir()] == ["why"]
    shutil.rmtree(kept)


def test_the_database_lies_where_the_servers_user_can_come(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with claimed_directory(closed / "state") as state:
        chosen = state.database_directory()
        assert chosen is not None
        assert chosen == state.database_directory()
    question = ["/bin/sh", "-c", 'cd "$1"', "reach", str(chosen.parent)]
    assert subprocess.run(question, check=False, cwd="/", **server_user().child_identity()).returncode == 0
    if os.getuid() == 0:
        shutil.rmtree(chosen)
    else:
        assert chosen == closed / "state" / "database"
