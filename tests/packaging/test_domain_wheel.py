"""The domain library by itself: built as a wheel and installed where nothing else is."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = str(ROOT / "tools" / "uv.sh")
PROGRAM = """
import json, sys
from importlib.metadata import distributions
import orchestrator_domain as domain
for name in domain.__all__:
    getattr(domain, name)
import orchestrator_domain.testing.fixed_catalogue
import orchestrator_domain.testing.in_memory.unit_of_work
flow = domain.read_flow(domain.parse_json(sys.stdin.buffer.read()))
made = domain.CompiledDecisionEvaluator().evaluate(
    flow.decision("RUTA_SCORING"), {"results": {"buro": {"score": 71}}}
)
print(json.dumps({"output": made.output, "installed": sorted(each.name for each in distributions())}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the pinned backend of this environment."""
    directory = tmp_path_factory.mktemp("wheel")
    ran(
        UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--offline", "--python", sys.executable,
        "--out-dir", str(directory), "packages/orchestrator-domain",
    )  # fmt: skip
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_holds_the_marker_of_types_and_the_package_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "orchestrator_domain/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {
        "orchestrator_domain",
        "orchestrator_domain-0.1.0.dist-info",
    }


@pytest.mark.exhaustive
def test_it_works_with_its_own_dependencies_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    ran(UV, "venv", "--quiet", "--no-project", "--python", sys.executable, str(environment))
    python = str(environment / "bin" / "python")
    pinned = str(ROOT / "requirements" / "production.txt")
    ran(UV, "pip", "install", "--quiet", "--python", python, "--constraints", pinned, str(wheel))

    flow = (ROOT / "examples" / "flows" / "credito-v1.json").read_text(encoding="utf-8")
    told = json.loads(ran(python, "-I", "-c", PROGRAM, given=flow))

    assert told == {
        "output": "N",
        "installed": [
            "attrs",
            "cattrs",
            "jiter",
            "jsonschema_rs",
            "orchestrator-domain",
            "typing_extensions",
        ],
    }


def ran(*command: str, given: str | None = None) -> str:
    result = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
