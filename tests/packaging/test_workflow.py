"""The workflow of CI: it runs what the README says, by actions that are pinned."""

import os
import re
from typing import Any

import pytest
from tests.packaging.deployment_files import ROOT, documents

FILE = ".github/workflows/ci.yml"
(WORKFLOW,) = documents(FILE)
STEPS: list[dict[str, Any]] = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def test_it_runs_the_tests_and_the_containers_by_scripts_that_are_here() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts == [".ci/run", ".ci/containers"]
    assert [script for script in scripts if not os.access(ROOT / script, os.X_OK)] == []


@pytest.mark.parametrize("action", sorted({step["uses"] for step in STEPS if "uses" in step}))
def test_an_action_is_pinned_to_a_commit(action: str) -> None:
    assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", action)


def test_it_may_read_and_nothing_else() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_it_tests_each_python_that_is_supported() -> None:
    versions = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert (ROOT / ".python-version").read_text().strip() in versions
    assert "3.12" in versions
