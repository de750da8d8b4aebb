"""The commands that the README shows to authors, typed as they stand there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## For authors", 1)[1].split("\n## ", 1)[0]
SCRIPT = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)[0]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory with the examples, in which files may be written."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "orchestrator").symlink_to(Path(sys.executable).parent / "orchestrator")
    return tmp_path


def test_what_the_readme_tells_authors_to_type_works(checkout: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    ran = subprocess.run(
        [bash, "-euo", "pipefail", "-c", SCRIPT],
        cwd=checkout,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (checkout / "credito.svg").read_text(encoding="utf-8").startswith("<svg ")
    for said in (
        "0 errors, 0 warnings",
        "cases are answered as expected.",
        "Nothing differs.",
        "It would end in PASO_M with the outcome M",
        "0 errors, 0 warnings, 0 information in 1 file.",
        "4 rows decided by RUTA_SCORING.",
    ):
        assert said in ran.stdout
