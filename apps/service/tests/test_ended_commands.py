"""How a command ends that is interrupted, that nobody listens to any more, or whose words can't be written."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pytest

from orchestrator_service.standard_output import OutputUnwritable, told_faults_of_output

FLOW = Path(__file__).parents[3] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"


def deciding(rows: Path, *arguments: str, stdout: int) -> subprocess.Popen[bytes]:
    command = ["flow", "decide", str(FLOW), "--decision", "RUTA_SCORING", "--rows", str(rows), *arguments]
    return subprocess.Popen(
        [sys.executable, "-m", "orchestrator_service.cli", *command], stdout=stdout, stderr=subprocess.PIPE
    )


def test_an_interrupt_is_told_in_a_word_and_ends_with_what_shells_give_it(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    os.mkfifo(rows)

    # The pipe opens once the command reads its rows, of which none will come.
    with deciding(rows, stdout=subprocess.DEVNULL) as process, rows.open("wb"):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    assert (process.returncode, said) == (130, b"Interrupted.\n")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_reader_that_has_gone_ends_the_command_in_silence(form: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("{}\n", encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)

    with deciding(rows, "--format", form, stdout=writing) as process:
        os.close(writing)
        _, said = process.communicate()

    assert (process.returncode, said) == (1, b"")


COMMANDS = {
    "json": ["flow", "validate", str(FLOW), "--format", "json"],
    "text": ["flow", "validate", str(FLOW)],
    "plain": ["flow", "diagram", str(FLOW)],
    "help": ["--help"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("output", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
    ids=["full", "closed"],
)
def test_what_can_not_be_written_to_standard_output_is_one_sentence(
    arguments: list[str], output: str, reason: str
) -> None:
    command = [sys.executable, "-m", "orchestrator_service.cli", *arguments]
    ended = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {output}', "sh", *command],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    told = f"OUTPUT_UNWRITABLE: What the command says can't be written to standard output ({reason}).\n"
    assert (ended.returncode, ended.stderr) == (2, told)


@contextmanager
def full_disk() -> Iterator[None]:
    """Put a full disk behind standard output, which must have nothing left to write at the end."""
    with Path("/dev/full").open("w", encoding="utf-8") as full, redirect_stdout(full):
        yield


def ended_by_another_fault() -> None:
    with full_disk(), told_faults_of_output():
        sys.stdout.write("It is kept until there is enough to write.")
        raise LookupError


def test_of_a_command_that_ended_otherwise_that_is_told() -> None:
    with pytest.raises(LookupError):
        ended_by_another_fault()


def test_after_a_fault_of_the_output_what_is_printed_goes_nowhere() -> None:
    with full_disk(), told_faults_of_output():
        sys.stdout.write("It is kept until there is enough to write.")
        with pytest.raises(OutputUnwritable):
            sys.stdout.flush()
        sys.stdout.write("This goes nowhere.")
        sys.stdout.flush()
