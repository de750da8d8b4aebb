import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres
from orchestrator_sandbox.server_binaries import unpacked_server_binaries
from orchestrator_sandbox.server_cluster import ServerDidNotStart
from orchestrator_sandbox.server_user import server_user
from orchestrator_sandbox.server_watchdog import ServerWatchdog

STARTER = """
import json, sys
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres
server = EmbeddedPostgres()
server.start()
print(json.dumps(server.process_id), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres() as running:
        yield running


@pytest.fixture
def reachable_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose parents let the server's user through, which pytest's own do not do for root."""
    directory = tmp_path_factory.mktemp("server")
    for parent in (directory, *directory.parents):
        if parent.stat().st_uid == os.getuid() and parent.stat().st_mode & 0o077 == 0:
            parent.chmod(0o711)
    return directory / "state"


def asked(server: EmbeddedPostgres, question: LiteralString) -> object:
    with psycopg.connect(server.superuser_url) as connection:
        row = connection.execute(question).fetchone()
        return row[0] if row else None


def has_ended(process: int) -> bool:
    """Wait for the end of a process, given as a pidfd, at most 30 seconds."""
    waiting = select.poll()
    waiting.register(process, select.POLLIN)
    return bool(waiting.poll(30_000))


def test_the_server_is_durable_compares_bytes_and_speaks_utf8(server: EmbeddedPostgres) -> None:
    assert asked(server, "SHOW fsync") == "on"
    assert asked(server, "SHOW synchronous_commit") == "on"
    assert asked(server, "SHOW max_connections") == "200"
    assert asked(server, "SHOW server_encoding") == "UTF8"
    assert asked(server, "SELECT datlocale FROM pg_database WHERE datname = 'template1'") == "C.UTF-8"


def test_the_server_listens_on_loopback_only_and_asks_for_a_password(server: EmbeddedPostgres) -> None:
    assert asked(server, "SHOW listen_addresses") == "127.0.0.1"
    assert asked(server, "SHOW unix_socket_directories") == ""
    wrong = server.superuser_url.replace("://postgres:", "://postgres:not-")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)


def test_a_server_never_runs_as_root(server: EmbeddedPostgres) -> None:
    assert server.process_id is not None
    owner = Path(f"/proc/{server.process_id}").stat().st_uid
    assert owner == server_user().user_id
    assert owner != 0


def test_what_was_committed_survives_a_kill_of_every_process(server: EmbeddedPostgres) -> None:
    url = server.create_database("survivor")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        killed = server.process_id
        server.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    server.start()
    assert server.process_id not in (None, killed)
    assert server.url_of("survivor") == url
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert "automatic recovery in progress" in server.log_file.read_text()


def test_a_restart_is_another_process_at_the_same_address(server: EmbeddedPostgres) -> None:
    before = (server.process_id, server.superuser_url)
    server.restart()
    assert server.process_id != before[0]
    assert server.superuser_url == before[1]
    assert asked(server, "SELECT 1") == 1


def test_a_given_directory_keeps_data_and_password_across_servers(reachable_directory: Path) -> None:
    with EmbeddedPostgres(directory=reachable_directory) as first:
        first.create_database("kept")
        password = first.superuser_url.split("@")[0]
    with EmbeddedPostgres(directory=reachable_directory, settings={"max_connections": "20"}) as second:
        assert second.superuser_url.split("@")[0] == password
        assert asked(second, "SELECT count(*) FROM pg_database WHERE datname = 'kept'") == 1
        assert asked(second, "SHOW max_connections") == "20"


def test_a_directory_with_other_files_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(ServerDidNotStart, match="holds other files"):
        EmbeddedPostgres(directory=tmp_path).start()
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]


def test_a_directory_that_cannot_be_written_to_is_refused_by_name(reachable_directory: Path) -> None:
    reachable_directory.mkdir()
    (reachable_directory / "superuser-password").touch()
    # As root the server's user is somebody else, whom the closed parent keeps out; others are kept out by the mode.
    closed = reachable_directory.parent if os.getuid() == 0 else reachable_directory
    closed.chmod(0o700 if os.getuid() == 0 else 0o500)
    with pytest.raises(ServerDidNotStart, match=f"can't write to {reachable_directory}"):
        EmbeddedPostgres(directory=reachable_directory).start()
    closed.chmod(0o700)


def test_a_failed_start_shows_the_end_of_the_log(server: EmbeddedPostgres) -> None:
    port = int(server.superuser_url.rsplit(":", 1)[1].split("/")[0])
    with pytest.raises(ServerDidNotStart, match="Address already in use"):
        EmbeddedPostgres(port=port).start()
    with pytest.raises(ServerDidNotStart, match="unrecognized configuration parameter"):
        EmbeddedPostgres(settings={"no_such_setting": "1"}).start()


def test_a_stopped_server_leaves_no_files_behind() -> None:
    with EmbeddedPostgres() as server:
        log_file = server.log_file
    assert not log_file.parent.exists()


def test_a_server_ends_when_its_starter_is_killed() -> None:
    # Its directory goes with the watchdog, which has a test of its own.
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        watched = os.pidfd_open(json.loads(starter.stdout.readline()))
        starter.send_signal(signal.SIGKILL)
    assert has_ended(watched)
    os.close(watched)


def test_a_watchdog_removes_its_directory_when_it_is_let_go(reachable_directory: Path) -> None:
    reachable_directory.mkdir()
    reachable_directory.parent.chmod(0o777)
    watchdog = ServerWatchdog(server_user(), reachable_directory)
    watchdog.close()
    assert not reachable_directory.exists()


def test_processes_that_unpack_at_once_agree_on_one_copy(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: unpacked_server_binaries(tmp_path / "cache"), range(4)))
    assert len(set(found)) == 1
    assert [entry.name for entry in (tmp_path / "cache").iterdir()] == [found[0].parent.name]


def test_unpacked_programs_are_readable_by_others_under_a_closed_umask(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        programs = unpacked_server_binaries(tmp_path / "cache")
    finally:
        os.umask(previous)
    for opened in (programs / "postgres", programs, programs.parent, programs.parent.parent):
        assert opened.stat().st_mode & 0o005 == 0o005
