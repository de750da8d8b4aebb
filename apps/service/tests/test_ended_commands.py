"""A command that is interrupted, or that nobody listens to any more, ends in silence."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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
