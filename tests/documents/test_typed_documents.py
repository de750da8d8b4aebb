"""README, tutorial and rehearsal, followed to the letter: files are saved, commands are typed, and what is shown is what is seen."""

import re
from itertools import pairwise
from pathlib import Path

from tests.plugins.typed_commands import WRITTEN_API, Checkout

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
REHEARSAL = (ROOT / "docs" / "RECONCILIATION.md").read_text(encoding="utf-8").split("\n## Rehearse it\n")[1]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TUTORIAL, re.DOTALL)
FILES = dict(re.findall(r"Save this as `([^`]+)`:\n\n```json\n(.*?)```", TUTORIAL, re.DOTALL))
(START, *SCRIPTS) = [text for kind, text in BLOCKS if kind == "sh"]
SHOWN = {
    script: text
    for (kind, script), (next_kind, text) in pairwise(BLOCKS)
    if (kind, next_kind) == ("sh", "text")
}
_MARK = "--- the next block ---"


def test_readme_and_tutorial_work_as_they_are_typed(checkout: Checkout) -> None:
    """All in one sandbox: starting it takes longer than following any of them."""
    _follow_readme(checkout)
    checkout.journal.unlink()
    _follow_tutorial(checkout)
    _follow_rehearsal(checkout)


def _follow_readme(checkout: Checkout) -> None:
    script = next(
        text for text in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if text.startswith("api=")
    )
    ran = checkout.typed(script)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert checkout.journal.read_text().splitlines() == [
        "POST 201",
        "POST 200",
        "POST 200",
        "PUT 200",
        "POST 201",
        "POST 202",
        "GET 200",
        "GET 200",
    ]
    again = checkout.typed(script)
    assert again.returncode == 1
    assert "DUPLICATE_FLOW_VERSION" in again.stderr
    assert "Traceback" not in again.stderr


def _follow_tutorial(checkout: Checkout) -> None:
    for place, content in FILES.items():
        (checkout.directory / place).parent.mkdir(exist_ok=True)
        (checkout.directory / place).write_text(content)

    # `flow diff` and `flow cases` end with 1 where something differs, as the tutorial says; a shell at hand goes on.
    ran = checkout.typed(f"\necho '{_MARK}'\n".join(SCRIPTS), until_first_failure=False)

    seen = dict(zip(SCRIPTS, ran.stdout.split(f"{_MARK}\n"), strict=True))
    for script, expected in SHOWN.items():
        assert [line for line in expected.splitlines() if line not in seen[script]] == [], (
            script,
            ran.stderr,
        )
    assert "Traceback" not in ran.stderr
    statuses = checkout.journal.read_text().split()[1::2]
    assert [status for status in statuses if status >= "400"] == ["403"]
    assert (checkout.directory / "my-first-flow" / "anticipo.svg").read_text().startswith("<svg")


def _follow_rehearsal(checkout: Checkout) -> None:
    until_it_stops, until_it_ends = re.findall(r"```sh\n(.*?)```", REHEARSAL, re.DOTALL)
    expected = [
        line for text in re.findall(r"```text\n(.*?)```", REHEARSAL, re.DOTALL) for line in text.splitlines()
    ]
    ran = checkout.typed(until_it_stops + until_it_ends)
    assert (ran.returncode, [line for line in ran.stdout.splitlines() if line in expected]) == (
        0,
        expected,
    ), ran.stderr


def test_the_tutorial_starts_the_sandbox_where_its_commands_look_for_it() -> None:
    (port,) = re.findall(r"--api-port (\d+)", START)
    assert f":{port}/" in WRITTEN_API
    assert WRITTEN_API in "".join(SCRIPTS)
    assert WRITTEN_API in README
    assert (len(FILES), len(SHOWN)) == (1, 8)
