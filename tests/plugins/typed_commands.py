"""A directory that looks like the checkout to the documents' commands, with a sandbox running in it."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).parents[2]
# Where the documents let the API listen; tests take a free port instead.
WRITTEN_API = "http://127.0.0.1:8080/api/v1"
# The commands have to work with any curl; the tests must not depend on one being installed.
CURL = """#!{python}
import argparse, http.client, pathlib, sys, urllib.parse
parser = argparse.ArgumentParser()
parser.add_argument("-sS", action="store_true")
parser.add_argument("-X")
parser.add_argument("-H", action="append")
parser.add_argument("-d", "--data-binary", dest="data")
parser.add_argument("url")
asked = parser.parse_args()
data = asked.data
if data is not None and data.startswith("@"):
    data = pathlib.Path(data[1:]).read_text()
headers = dict(line.split(": ", 1) for line in asked.H)
method = asked.X or ("GET" if data is None else "POST")
url = urllib.parse.urlsplit(asked.url)
connection = http.client.HTTPConnection(url.netloc, timeout=30)
connection.request(method, url.path, None if data is None else data.encode(), headers)
answer = connection.getresponse()
with open("{journal}", "a") as journal:
    journal.write(f"{{method}} {{answer.status}}\\n")
sys.stdout.write(answer.read().decode())
"""


@frozen(kw_only=True)
class Checkout:
    """The directory, and the API of the sandbox in it."""

    directory: Path
    api: str

    @property
    def journal(self) -> Path:
        """The file that holds a line for each answer that curl got."""
        return self.directory / "journal"

    def typed(self, script: str, *, until_first_failure: bool = True) -> subprocess.CompletedProcess[str]:
        """Run what a document tells to type, as one session of a shell."""
        bash = shutil.which("bash")
        assert bash is not None
        strict = ["-euo", "pipefail"] if until_first_failure else ["-u"]
        return subprocess.run(
            [bash, *strict, "-c", script.replace(WRITTEN_API, self.api)],
            cwd=self.directory,
            env={"PATH": f"{self.directory / 'bin'}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A checkout in which `make up` has been typed, with one worker."""
    directory = tmp_path_factory.mktemp("checkout")
    for name in ("examples", "contracts"):
        (directory / name).symlink_to(ROOT / name)
    programs = directory / ".venv" / "bin"
    programs.mkdir(parents=True)
    for program in ("python", "orchestrator", "orchestrator-sandbox"):
        (programs / program).symlink_to(Path(sys.executable).parent / program)
    shim = directory / "bin" / "curl"
    shim.parent.mkdir()
    shim.write_text(CURL.format(python=sys.executable, journal=directory / "journal"))
    shim.chmod(0o755)
    command = [str(programs / "orchestrator-sandbox"), "up", "--workers", "1"]
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        api = re.search(r"API +(\S+)", "".join(_until_ready(process)))
        assert api is not None
        yield Checkout(directory=directory, api=api[1])
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def _until_ready(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if "Ctrl-C" in line:
            return
