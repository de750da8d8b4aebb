"""Make the directory of a server, and the cluster in it."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from orchestrator_sandbox.server_binaries import unpacked_server_binaries
from orchestrator_sandbox.server_user import ServerUser

SUPERUSER = "postgres"


class ServerDidNotStart(RuntimeError):
    """PostgreSQL ended, or stayed silent, before it accepted connections."""


def server_home(given: Path | None, user: ServerUser) -> Path:
    """Return the directory of a server, owned by its user, making it when it is not there.

    Raises ServerDidNotStart when the directory belongs to something else, or the user can't reach it.
    """
    if given is None:
        home = Path(tempfile.mkdtemp(prefix="orchestrator-postgres-"))
    else:
        home = given.resolve()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(home.iterdir()) and not (home / "superuser-password").exists():
            raise ServerDidNotStart(
                f"{home} holds other files: name a directory that is new, empty or a server's."
            )
    user.own(home)
    _refuse_an_unreachable(home, user)
    return home


def _refuse_an_unreachable(home: Path, user: ServerUser) -> None:
    empty = not any(home.iterdir())
    question = ["/bin/sh", "-c", '[ -w "$1" ] && [ -x "$1" ]', "reach", str(home)]
    if subprocess.run(question, check=False, cwd="/", **user.child_identity()).returncode != 0:
        if empty:
            home.rmdir()
        raise ServerDidNotStart(
            f"User {user.name}, who runs the server, can't write to {home}: name another directory, "
            "or another TMPDIR."
        )


def initialise_cluster(home: Path, user: ServerUser) -> None:
    """Make an empty cluster with a random password for its superuser, unless there is one.

    Raises ServerDidNotStart when initdb fails.
    """
    if (home / "cluster" / "PG_VERSION").exists():
        return
    password_file = home / "superuser-password"
    password_file.touch(mode=0o600)
    password_file.write_text(secrets.token_urlsafe(24))
    user.own(password_file)
    shutil.rmtree(home / "cluster", ignore_errors=True)
    command = [
        str(unpacked_server_binaries() / "initdb"),
        f"--pgdata={home / 'cluster'}",
        f"--username={SUPERUSER}",
        f"--pwfile={password_file}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        # The built-in provider has C.UTF-8 everywhere; the operating system's may lack it.
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
    ]
    made = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=server_environment(),
        **user.child_identity(),
    )
    if made.returncode != 0:
        raise ServerDidNotStart(
            f"initdb failed for user {user.name}:\n{made.stdout[-1000:]}{made.stderr[-1000:]}"
        )


def server_environment() -> dict[str, str]:
    """Return the environment of the server's programs, free of the caller's settings for other servers."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}
