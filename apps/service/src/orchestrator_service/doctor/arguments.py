"""How `doctor` is called. Imports nothing of the project, so that `--help` stays quick."""

from typing import Any


def add_doctor_command(commands: Any) -> None:
    """Add `doctor` to the subcommands of a parser."""
    doctor = commands.add_parser(
        "doctor",
        help="examine settings, database, issuers and catalogue as `serve` would use them; exit 1 at a fault",
        description="Reads the settings of `serve` and changes nothing. Each check is ok, warn or fault, in one sentence,"
        " with what to do. No secret and nothing of any request is printed.",
    )
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of lines")
