"""The command `orchestrator-sandbox`. Each command is imported only when it is asked for, so that `--help` stays quick."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.state_directory import DEFAULT

# What may be tuned from outside; everything else the sandbox sets itself.
TUNABLE = (
    "DATABASE_POOL",
    "LOG_LEVEL",
    "WORKER_BATCH",
    "WORKER_CONCURRENCY",
    "WORKER_DRAIN_SECONDS",
    "WORKER_LEASE_SECONDS",
    "WORKER_POLL_MS",
    "WORKER_RENEW_SECONDS",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 1 if it failed; usage errors exit with 2."""
    chosen = command_parser().parse_args(arguments)
    try:
        return _run(chosen)
    except SandboxFailure as failure:
        print(f"orchestrator-sandbox: {failure}", file=sys.stderr)
        return 1


def _run(chosen: argparse.Namespace) -> int:
    match chosen.command:
        case "up":
            return _up(chosen)
        case "token":
            return _token(chosen)
        case "mocks":
            return _mocks(chosen)
        case _:
            return _demo(chosen)


def _up(chosen: argparse.Namespace) -> int:
    from orchestrator_sandbox.examples import found_examples  # noqa: PLC0415 - see above
    from orchestrator_sandbox.sandbox import SandboxPlan  # noqa: PLC0415 - see above
    from orchestrator_sandbox.up import up  # noqa: PLC0415 - see above

    examples = found_examples(chosen.examples)
    plan = SandboxPlan(
        catalogue_file=examples.catalogue_file,
        workers=chosen.workers,
        api_port=chosen.api_port,
        issuer_port=chosen.issuer_port,
        providers_port=chosen.providers_port,
        database_port=chosen.database_port,
        service_variables={name: os.environ[name] for name in TUNABLE if name in os.environ},
    )
    return up(plan, chosen.state_dir, examples)


def _token(chosen: argparse.Namespace) -> int:
    from orchestrator_sandbox.token_request import issued_token, running_issuer  # noqa: PLC0415 - see above

    token = issued_token(
        chosen.issuer_url or running_issuer(chosen.state_dir),
        subject=chosen.subject,
        roles=chosen.role,
        scopes=chosen.scope,
        expires_in_seconds=chosen.expires_in,
    )
    print(token)
    return 0


def _mocks(chosen: argparse.Namespace) -> int:
    from orchestrator_sandbox.mocks import MocksPlan, serve_mocks  # noqa: PLC0415 - see above

    plan = MocksPlan(
        host=chosen.host,
        issuer_port=chosen.issuer_port,
        providers_port=chosen.providers_port,
        issuer=chosen.issuer,
    )
    return serve_mocks(plan)


def _demo(chosen: argparse.Namespace) -> int:
    from orchestrator_sandbox.demo.report import JsonReport, TableReport  # noqa: PLC0415 - see above
    from orchestrator_sandbox.demo.run import run_demo  # noqa: PLC0415 - see above
    from orchestrator_sandbox.examples import found_examples  # noqa: PLC0415 - see above

    return run_demo(found_examples(chosen.examples), JsonReport() if chosen.json else TableReport())


def command_parser() -> argparse.ArgumentParser:
    """Return the command line with all its commands; the reference is made of it."""
    parser = argparse.ArgumentParser(
        prog="orchestrator-sandbox",
        description="The request orchestrator with everything around it, on this machine, for trying it out.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", help="start everything and keep it running until Ctrl-C"))
    _add_token(commands.add_parser("token", help="print an access token of the running sandbox's issuer"))
    _add_mocks(
        commands.add_parser(
            "mocks", help="run the token issuer and the provider doubles alone, until a signal"
        )
    )
    _add_demo(
        commands.add_parser("demo", help="drive the example flow, and compare what is seen with what is due")
    )
    return parser


def _add_up(parser: argparse.ArgumentParser) -> None:
    _add_state_directory(parser, "keep data, logs and addresses here")
    parser.add_argument("--workers", type=_worker_count, default=2, metavar="N", help="worker processes (2)")
    for part in ("api", "issuer", "providers", "database"):
        parser.add_argument(
            f"--{part}-port", type=_port, default=0, metavar="N", help="a free one by default"
        )
    _add_examples(parser)


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subject", required=True, metavar="S", help="whom the token speaks of")
    parser.add_argument(
        "--role", nargs="+", action="extend", default=[], metavar="R", help="roles, none by default"
    )
    parser.add_argument(
        "--scope",
        nargs="+",
        action="extend",
        default=[],
        metavar="B",
        help="business scopes, none by default",
    )
    parser.add_argument(
        "--expires-in", type=int, default=3600, metavar="N", help="seconds (3600); below 0 it has expired"
    )
    where = parser.add_mutually_exclusive_group()
    _add_state_directory(where, "the directory of the running sandbox")
    where.add_argument("--issuer-url", metavar="URL", help="an issuer, instead of the running sandbox's")


def _add_mocks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="where both listen (127.0.0.1)")
    for part in ("issuer", "providers"):
        parser.add_argument(
            f"--{part}-port", type=_port, default=0, metavar="N", help="a free one by default"
        )
    parser.add_argument(
        "--issuer", metavar="NAME", help="what the tokens call their issuer; by default, its address"
    )


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    _add_examples(parser)


def _add_state_directory(parser: argparse._ActionsContainer, purpose: str) -> None:
    parser.add_argument(
        "--state-dir", type=Path, default=DEFAULT, metavar="DIR", help=f"{purpose} ({DEFAULT})"
    )


def _add_examples(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--examples", type=Path, metavar="DIR", help="the directory `examples` (that of this checkout)"
    )


def _port(text: str) -> int:
    return _number(text, least=0, most=65535)


def _worker_count(text: str) -> int:
    return _number(text, least=0, most=64)


def _number(text: str, *, least: int, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and least <= int(text[:6]) <= most):
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
