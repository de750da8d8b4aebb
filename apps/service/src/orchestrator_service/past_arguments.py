"""How the commands that read a database's past are called. Imports nothing of the project, as `--help` is quick."""

from typing import Any


def add_past_commands(commands: Any) -> None:
    """Add `audit …` to the subcommands of a parser."""
    audit = commands.add_parser("audit", help="check what was recorded, reading only")
    actions = audit.add_subparsers(dest="action", required=True, metavar="ACTION")
    verify = actions.add_parser(
        "verify",
        help="replay recorded decisions by their pinned versions and check every chain; exit 1 if one doesn't hold",
    )
    verify.add_argument(
        "--database", required=True, metavar="URL", help="the database, as a role that may read"
    )
    verify.add_argument("--format", choices=("text", "json"), default="text", help="text unless given")
