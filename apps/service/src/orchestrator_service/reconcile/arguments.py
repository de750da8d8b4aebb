"""How the commands for operators are called. Imports nothing of the project, so that `--help` stays quick."""

import argparse
from pathlib import Path
from typing import Any

_STATUSES = ("RECONCILIATION_REQUIRED", "RETRY_WAIT", "RUNNING", "PENDING")
_RESOLUTIONS = ("RESUME_WITH_RESULT", "RESUME_EFFECT_ABSENT", "CLOSE_WITHOUT_TRANSITION")


def add_operator_commands(commands: Any) -> None:
    """Add `reconcile …` to the subcommands of a parser."""
    reconcile = commands.add_parser(
        "reconcile",
        help="list, show and resolve executions that stopped before a human",
        description="Talks to the API at ORCHESTRATOR_URL with the access token in ORCHESTRATOR_TOKEN.",
    )
    actions = reconcile.add_subparsers(dest="action", required=True, metavar="ACTION")
    _list(actions)
    _show(actions)
    _resolve(actions)


def _list(actions: Any) -> None:
    listing = actions.add_parser("list", help="tell what waits in your business scopes, the longest first")
    listing.add_argument(
        "--status", choices=_STATUSES, default=_STATUSES[0], help=f"{_STATUSES[0]} unless given"
    )
    _format(listing)


def _show(actions: Any) -> None:
    show = actions.add_parser("show", help="tell where one execution stands, and what it admits")
    show.add_argument("execution", metavar="EXECUTION", help="the execution's id")
    _format(show)


def _resolve(actions: Any) -> None:
    resolve = actions.add_parser(
        "resolve", help="say what was verified; exit 1 if it is refused, or would be under --dry-run"
    )
    resolve.add_argument("execution", metavar="EXECUTION", help="the execution's id")
    resolve.add_argument(
        "--stop",
        required=True,
        type=int,
        metavar="STOP",
        help="the stop that was verified, as `reconcile show` tells it; a later one is never resolved by mistake",
    )
    resolve.add_argument("--resolution", required=True, choices=_RESOLUTIONS)
    resolve.add_argument(
        "--stopped-action", metavar="ACTION", help="the action that stopped; leave it out only where none did"
    )
    resolve.add_argument("--result", type=Path, metavar="FILE", help="JSON, with RESUME_WITH_RESULT only")
    resolve.add_argument("--evidence", required=True, metavar="TEXT", help="what was verified, in words")
    resolve.add_argument("--reference", required=True, metavar="REF", help="where the proof is kept")
    resolve.add_argument(
        "--key", metavar="KEY", help="the Idempotency-Key, to repeat a command whose answer was lost"
    )
    resolve.add_argument("--dry-run", action="store_true", help="tell what would happen, and change nothing")
    _format(resolve)


def _format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text unless given")
