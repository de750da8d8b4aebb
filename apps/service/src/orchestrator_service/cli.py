"""The command `orchestrator`. Each command is imported only when it is asked for, so that `--help` stays quick."""

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from orchestrator_domain.errors import OrchestratorError
from orchestrator_service.authoring.arguments import add_author_commands
from orchestrator_service.doctor.arguments import add_doctor_command
from orchestrator_service.explaining.arguments import add_explain_command
from orchestrator_service.past_arguments import add_past_commands
from orchestrator_service.reconcile.arguments import add_operator_commands
from orchestrator_service.retention.arguments import add_retention_commands
from orchestrator_service.standard_output import told_faults_of_output

_FAILED = 1
_UNUSABLE = 2
_UNREACHABLE = 3
# What a shell says of a command that SIGINT ended.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 if it failed or found something, 2 if it couldn't begin (settings, usage), or 3.

    2 also says that a file or standard output couldn't be written, 3 that no database answered: the same command may
    succeed later. 130 says that an interrupt ended it.
    """
    with told_faults_of_output():
        try:
            return _ended(arguments)
        except OrchestratorError as fault:
            _tell(fault)
            return _UNREACHABLE if fault.code == "DATABASE_UNREACHABLE" else _UNUSABLE
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            return _INTERRUPTED
        except BrokenPipeError:
            # Whoever read has seen enough.
            return _FAILED


def command_parser() -> argparse.ArgumentParser:
    """Return the command line with all its commands; the reference is made of it."""
    parser = argparse.ArgumentParser(
        prog="orchestrator",
        description="A configurable orchestrator of requests. Settings come from the environment.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("serve", help="serve the API, run the worker, or both, as the settings say")
    commands.add_parser("migrate", help="bring the database schema to this release's revision")
    commands.add_parser(
        "provision", help="make the database's roles, once, as the administrator whom a URL names"
    )
    health = commands.add_parser("health", help="ask the process on this machine; exit 1 unless it is well")
    health.add_argument(
        "question", nargs="?", choices=("ready", "live"), default="ready", help="ready unless given"
    )
    add_doctor_command(commands)
    add_explain_command(commands)
    add_author_commands(commands)
    add_operator_commands(commands)
    add_past_commands(commands)
    add_retention_commands(commands)
    return parser


def _ended(arguments: Sequence[str] | None) -> int:
    try:
        code = _run(command_parser().parse_args(arguments))
    except SystemExit:
        # As `--help` ends.
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _run(chosen: argparse.Namespace) -> int:
    match chosen.command:
        case "serve":
            with _no_collection_of_what_stays(), _no_drawing_of_tracebacks():
                from orchestrator_service.serve import serve  # noqa: PLC0415 -- see above

            return serve(os.environ)
        case "provision":
            from orchestrator_service.provision import provision_database  # noqa: PLC0415 -- see above

            return provision_database(os.environ)
        case "health":
            from orchestrator_service.health import ask_health  # noqa: PLC0415 -- see above

            return ask_health(os.environ, chosen.question)
        case "doctor":
            from orchestrator_service.doctor.run import examine_deployment  # noqa: PLC0415 -- see above

            return examine_deployment(chosen, os.environ)
        case "explain":
            from orchestrator_service.explaining.run import explain_request  # noqa: PLC0415 -- see above

            return explain_request(chosen, os.environ)
        case "audit":
            from orchestrator_service.audit_verify import verify_audit  # noqa: PLC0415 -- see above

            return verify_audit(chosen)
        case "flow" | "catalogue":
            from orchestrator_service.flow_commands import run_author_command  # noqa: PLC0415 -- see above

            return run_author_command(chosen)
        case "reconcile":
            from orchestrator_service.reconcile.commands import run_operator_command  # noqa: PLC0415 -- see above

            return run_operator_command(chosen, os.environ)
        case "retention":
            from orchestrator_service.retention.run import run_retention  # noqa: PLC0415 -- see above

            return run_retention(chosen, os.environ)
        case _:
            from orchestrator_service.migrate import migrate_database  # noqa: PLC0415 -- see above

            return migrate_database(os.environ)


@contextmanager
def _no_collection_of_what_stays() -> Iterator[None]:
    """Import without looking for garbage, and never look at what was imported again: it lives as long as the process.

    A twentieth of a start was spent on such looks, and each later one would have gone through all of it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _no_drawing_of_tracebacks() -> Iterator[None]:
    """Import as if Rich weren't installed.

    structlog imports it to draw tracebacks for developers, which a service never does: that was a ninth of a start.
    """
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]  # None is "not installed"
    absent = modules.setdefault("rich", None) is None
    try:
        yield
    finally:
        if absent:
            del modules["rich"]


def _tell(fault: OrchestratorError) -> None:
    """Print each fault on a line of its own, with the stable code first."""
    for sentence in getattr(fault, "faults", None) or (fault.message,):
        print(f"{fault.code}: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
