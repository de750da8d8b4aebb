"""How `retention` is called. Imports nothing of the project, so that `--help` stays quick."""

import argparse
from pathlib import Path
from typing import Any

_PARTS = ("HISTORY", "REQUEST_DATA", "INITIAL_DATA", "EVENT_DATA", "RESULTS", "DOCUMENTS", "EVIDENCE")


def add_retention_commands(commands: Any) -> None:
    """Add `retention …` to the subcommands of a parser."""
    retention = commands.add_parser(
        "retention",
        help="erase personal data of requests that have ended, by a policy or on demand",
        description="Works as the role in RETENTION_DATABASE_URL, a member of orchestrator_retention.",
    )
    actions = retention.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser(
        "run",
        help="tell what would be erased, or erase it with --execute; exit 1 if something due was left",
        description="Without --execute nothing is changed: the plan is told, with counts. What was erased is recorded in"
        " the history of its request. A run that was interrupted is taken up by the next one.",
    )
    _what(run)
    run.add_argument("--execute", action="store_true", help="erase; without it this is a dry run")
    run.add_argument("--dry-run", action="store_true", help="change nothing, as without --execute")
    run.add_argument(
        "--batch",
        type=_batch,
        default=100,
        metavar="N",
        help="requests in one transaction, 1 to 1000; 100 unless given",
    )
    run.add_argument("--format", choices=("text", "json"), default="text", help="text unless given")


def _what(run: argparse.ArgumentParser) -> None:
    what = run.add_mutually_exclusive_group(required=True)
    what.add_argument("--policy", type=Path, metavar="FILE", help="the retention policy, JSON")
    what.add_argument("--request", metavar="ID", help="one request, on demand, whatever its age")
    demand = run.add_argument_group("with --request")
    demand.add_argument(
        "--erase",
        action="append",
        choices=_PARTS,
        metavar="PART",
        help=f"one of {', '.join(_PARTS)}; all unless given",
    )
    demand.add_argument(
        "--open-requests",
        action="store_true",
        help="also if the request is short of an end state; it takes no more events",
    )
    demand.add_argument(
        "--reference",
        type=_reference,
        metavar="REF",
        help="the demand's number, kept in the history; no name of a person",
    )


def _batch(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError("a whole number from 1 to 1000")
    return number


def _reference(text: str) -> str:
    if not 1 <= len(text) <= 64 or not all(
        each.isascii() and (each.isalnum() or each in "._-") for each in text
    ):
        raise argparse.ArgumentTypeError("1 to 64 letters, digits, dots, dashes and underscores")
    return text
