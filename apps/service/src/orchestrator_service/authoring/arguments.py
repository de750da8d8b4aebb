"""How the commands for authors are called. Imports nothing of the project, so that `--help` stays quick."""

import argparse
from pathlib import Path
from typing import Any


def add_author_commands(commands: Any) -> None:
    """Add `flow …` and `catalogue …` to the subcommands of a parser."""
    flow = commands.add_parser("flow", help="check, draw, compare and try flow definitions in files")
    actions = flow.add_subparsers(dest="action", required=True, metavar="ACTION")
    _validate(actions)
    _diagram(actions)
    _diff(actions)
    _cases(actions)
    _explain(actions)
    _simulate(actions)
    _decide(actions)
    _replay(actions)
    catalogue = commands.add_parser("catalogue", help="check an integration catalogue in a file")
    _check(catalogue.add_subparsers(dest="action", required=True, metavar="ACTION"))


def _validate(actions: Any) -> None:
    validate = actions.add_parser(
        "validate", help="tell every finding with its place; exit 1 on errors, 2 on a file that can't be read"
    )
    validate.add_argument("files", nargs="+", type=Path, metavar="FILE")
    validate.add_argument(
        "--catalogue", type=Path, metavar="FILE", help="check the actions against this catalogue"
    )
    validate.add_argument("--roles", type=_words, metavar="R,…", help="the business roles that exist")
    _format(validate, "text", "json", "github")


def _diagram(actions: Any) -> None:
    diagram = actions.add_parser("diagram", help="draw states, events, decisions and outcomes")
    diagram.add_argument("file", type=Path, metavar="FILE")
    _format(diagram, "mermaid", "dot", "svg")


def _diff(actions: Any) -> None:
    diff = actions.add_parser("diff", help="tell what a version changes, with examples; exit 1 if anything")
    diff.add_argument("old", type=Path, metavar="OLD")
    diff.add_argument("new", type=Path, metavar="NEW")
    _format(diff, "text", "json")


def _cases(actions: Any) -> None:
    cases = actions.add_parser(
        "cases", help="write cases at the bounds of the decisions, or run such cases; exit 1 if one fails"
    )
    cases.add_argument("file", type=Path, metavar="FILE")
    cases.add_argument(
        "--run", type=Path, metavar="CASES", help="run the cases of this file against the flow"
    )
    _format(cases, "json", "text")


def _explain(actions: Any) -> None:
    explain = actions.add_parser(
        "explain", help="tell whether an event would be accepted, what decides, and why"
    )
    explain.add_argument("file", type=Path, metavar="FILE")
    explain.add_argument(
        "--request", type=Path, required=True, metavar="FILE", help="JSON with 'state' and 'data'"
    )
    explain.add_argument(
        "--event",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON with 'event', 'data' and perhaps 'actor'",
    )
    explain.add_argument(
        "--results", type=Path, metavar="FILE", help="JSON with a result for each result key"
    )
    _format(explain, "text", "json")


def _simulate(actions: Any) -> None:
    simulate = actions.add_parser(
        "simulate", help="run many cases without a call to anything; exit 1 if one isn't as expected"
    )
    simulate.add_argument("file", type=Path, metavar="FILE")
    simulate.add_argument(
        "--cases", type=Path, required=True, metavar="CASES", help="cases in .jsonl, .csv or .parquet"
    )
    simulate.add_argument("--out", type=Path, metavar="FILE", help="write each case as a line of JSON")
    simulate.add_argument(
        "--catalogue",
        type=Path,
        metavar="FILE",
        help="hold inputs and results to the contracts of this catalogue",
    )
    _floats(simulate)
    _format(simulate, "text", "json")


def _decide(actions: Any) -> None:
    decide = actions.add_parser(
        "decide", help="decide every row of a file by one decision; exit 1 if one has no output"
    )
    decide.add_argument("file", type=Path, metavar="FILE")
    decide.add_argument("--decision", required=True, metavar="KEY", help="the decision of the flow")
    decide.add_argument(
        "--rows",
        type=Path,
        required=True,
        metavar="ROWS",
        help="what the decision reads, a row each, in .jsonl, .csv or .parquet",
    )
    decide.add_argument("--out", type=Path, metavar="FILE", help="write each row's result as a line of JSON")
    decide.add_argument(
        "--processes", type=_count, default=1, metavar="N", help="share .jsonl or .parquet among N processes"
    )
    _floats(decide)
    _format(decide, "text", "json")


def _replay(actions: Any) -> None:
    replay = actions.add_parser(
        "replay", help="tell what a version would have changed of what really happened; exit 1 if anything"
    )
    replay.add_argument(
        "--database", required=True, metavar="URL", help="the database, as a role that may read"
    )
    replay.add_argument("--flow", type=Path, required=True, metavar="FILE", help="the version to be tried")
    replay.add_argument("--since", metavar="TIME", help="leave out events before this date or time (UTC)")
    replay.add_argument(
        "--vary", action="append", metavar="POINTER", help="a numeric literal of the version that is to move"
    )
    replay.add_argument("--values", metavar="N,…", help="the values that it takes")
    replay.add_argument(
        "--chart", type=Path, metavar="FILE", help="draw outcomes, and shares over --values, as SVG"
    )
    replay.add_argument(
        "--show-values", action="store_true", dest="values_shown", help="tell what rules read in the examples"
    )
    _format(replay, "text", "json")


def _check(actions: Any) -> None:
    check = actions.add_parser(
        "check", help="tell every fault of a catalogue; exit 1 on faults, 2 if unreadable"
    )
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument(
        "--deployed", action="store_true", help="look up the variables and files that it refers to as well"
    )
    _format(check, "text", "json", "github")


def _floats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--floats",
        choices=("refuse", "shortest"),
        default="refuse",
        help="take float columns as their shortest decimals; refused unless given",
    )


def _format(parser: argparse.ArgumentParser, *formats: str) -> None:
    parser.add_argument("--format", choices=formats, default=formats[0], help=f"{formats[0]} unless given")


def _count(written: str) -> int:
    if not (written.isascii() and written.isdigit() and 1 <= int(written) <= 64):
        raise argparse.ArgumentTypeError("a whole number from 1 to 64")
    return int(written)


def _words(written: str) -> tuple[str, ...]:
    return tuple(word for word in written.replace(",", " ").split() if word)
