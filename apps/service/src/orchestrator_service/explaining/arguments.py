"""How `explain` is called. Imports nothing of the project, so that `--help` stays quick."""

from typing import Any


def add_explain_command(commands: Any) -> None:
    """Add `explain` to the subcommands of a parser."""
    explain = commands.add_parser(
        "explain",
        help="tell what happened to a request, what it waits for, and why an event would be refused",
        description="Reads the database only. Values of the request, and who did what, are shown with --details alone.",
    )
    explain.add_argument("request", metavar="REQUEST", help="the request's id")
    explain.add_argument(
        "--database", metavar="URL", help="as a role that may read; DATABASE_URL unless given"
    )
    explain.add_argument("--roles", metavar="ROLE,…", help="judge events for somebody who holds these roles")
    explain.add_argument(
        "--details", action="store_true", help="show actors, reasons and data, which may be personal"
    )
    explain.add_argument("--format", choices=("text", "json"), default="text", help="text unless given")
