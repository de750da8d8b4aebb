"""Choose the unprivileged user that runs PostgreSQL, which refuses to run as root."""

import os
import pwd
from pathlib import Path
from typing import TypedDict

from attrs import frozen

UNPRIVILEGED_USERS = ("postgres", "nobody")


class NoUnprivilegedUser(RuntimeError):
    """The machine's user database has nobody that could run the server."""


class ChildIdentity(TypedDict, total=False):
    """The arguments of `subprocess.Popen` that make a child run as somebody else."""

    user: int
    group: int
    extra_groups: list[int]


@frozen(kw_only=True)
class ServerUser:
    """The user whose processes and files the server consists of."""

    name: str
    user_id: int
    group_id: int

    def child_identity(self) -> ChildIdentity:
        """Return what `subprocess.Popen` needs to start a child as this user."""
        if os.getuid() == self.user_id:
            return {}
        return {"user": self.user_id, "group": self.group_id, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give the path, not what it contains, to this user."""
        if os.getuid() != self.user_id:
            os.chown(path, self.user_id, self.group_id)


def server_user() -> ServerUser:
    """Return the caller, or an unprivileged user when the caller is root.

    Raises NoUnprivilegedUser when root has nobody to hand the server to.
    """
    if os.getuid() != 0:
        return _caller()
    for name in UNPRIVILEGED_USERS:
        try:
            return _as_server_user(pwd.getpwnam(name))
        except KeyError:
            continue
    raise NoUnprivilegedUser(
        f"PostgreSQL refuses to run as root: create one of the users {UNPRIVILEGED_USERS}."
    )


def _caller() -> ServerUser:
    try:
        return _as_server_user(pwd.getpwuid(os.getuid()))
    except KeyError as error:
        # initdb looks its user up by name.
        raise NoUnprivilegedUser(
            f"User id {os.getuid()} has no entry in the user database: add one."
        ) from error


def _as_server_user(entry: pwd.struct_passwd) -> ServerUser:
    return ServerUser(name=entry.pw_name, user_id=entry.pw_uid, group_id=entry.pw_gid)
