"""Other engines, in an environment and in processes of their own, so that nothing of them comes near the product."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "bench" / "requirements-peers.txt"
ENVIRONMENT = ROOT / ".bench" / "peers"
SCRIPTS = ROOT / "bench" / "peer_scripts"


def peers_python() -> Path:
    """Return the interpreter beside which the peers are installed, installing them if they are not as required."""
    python = ENVIRONMENT / "bin" / "python"
    installed = ENVIRONMENT / ".installed"
    wanted = sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not installed.exists() or installed.read_text() != wanted:
        print("Installing the peers into .bench/peers …", file=sys.stderr)
        _uv("venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, str(ENVIRONMENT))
        _uv("pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(REQUIREMENTS))
        installed.write_text(wanted)
    return python


def _uv(*arguments: str) -> None:
    subprocess.run([str(ROOT / "tools" / "uv.sh"), *arguments], check=True)


class PeerProcess:
    """A script among the peers that answers each line of JSON with one; use it as a context manager."""

    def __init__(self, script: str) -> None:
        self._process = subprocess.Popen(
            [str(peers_python()), str(SCRIPTS / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: Any) -> Any:
        """Send a question and return its answer; raise RuntimeError when the script has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("a peer's script ended; what it printed says why")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _fault: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()
