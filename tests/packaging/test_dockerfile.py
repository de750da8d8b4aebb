"""The images: pinned, without a superuser, without the sandbox in production, with commands that exist."""

import json
import re
from fnmatch import fnmatch

import pytest
from tests.packaging.deployment_files import ROOT, SETTINGS, Stage, is_a_command, stages

from orchestrator_sandbox.cli import command_parser as sandbox_parser

STAGES = {stage.name: stage for stage in stages()}
SERVICE, SANDBOX = STAGES["service"], STAGES["sandbox"]
FROM_ELSEWHERE = [stage for stage in STAGES.values() if stage.base not in STAGES]


def test_the_last_stage_is_the_service_and_no_stage_of_it_holds_the_sandbox() -> None:
    assert list(STAGES)[-1] == "service"
    behind, waiting = set(), ["service"]
    while waiting:
        stage = STAGES[waiting.pop()]
        behind.add(stage.name)
        copied_from = re.findall(r"--from=(\S+)", " ".join(stage.all("COPY")))
        waiting += [name for name in (stage.base, *copied_from) if name in STAGES]
    assert behind == {"base", "building", "service"}
    told = " ".join(value for name in behind for _, value in STAGES[name].instructions)
    assert "sandbox" not in told


@pytest.mark.parametrize("stage", FROM_ELSEWHERE, ids=lambda stage: stage.name)
def test_what_comes_from_elsewhere_is_pinned_by_version_and_digest(stage: Stage) -> None:
    assert re.fullmatch(r"[a-z]+:\d+\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}", stage.base)


def test_the_image_has_the_python_that_is_developed_on() -> None:
    developed = (ROOT / ".python-version").read_text().strip()
    assert STAGES["base"].base.startswith(f"python:{developed}.")


@pytest.mark.parametrize("stage", [SERVICE, SANDBOX], ids=lambda stage: stage.name)
def test_an_image_runs_as_a_numbered_user_who_is_not_root(stage: Stage) -> None:
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", stage.last("USER"))


def test_entry_point_command_and_health_check_are_commands_of_the_service() -> None:
    program = json.loads(SERVICE.last("ENTRYPOINT"))
    _, _, check = SERVICE.last("HEALTHCHECK").partition(" CMD ")
    assert program == ["/opt/orchestrator/bin/orchestrator"]
    assert is_a_command(json.loads(SERVICE.last("CMD")))
    assert json.loads(check)[:1] == program
    assert is_a_command(json.loads(check)[1:])
    assert not is_a_command(["no-such-command"])


def test_the_sandbox_s_command_is_one_of_its_own() -> None:
    chosen = sandbox_parser().parse_args(json.loads(SANDBOX.last("CMD")))
    assert {str(chosen.issuer_port), str(chosen.providers_port)} == set(SANDBOX.last("EXPOSE").split())


def test_what_the_image_sets_are_settings_and_its_ports_are_exposed() -> None:
    environment = SERVICE.environment()
    assert environment.keys() <= SETTINGS
    ports = {value for name, value in environment.items() if name.endswith("_PORT")}
    assert ports == set(SERVICE.last("EXPOSE").split())


def test_what_is_copied_exists_and_is_sent_to_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = [line[1:].rstrip("/") for line in lines if line.startswith("!")]
    copied = [
        line.split()[0].rstrip("/")
        for stage in STAGES.values()
        for line in stage.all("COPY")
        if not line.startswith("--from=")
    ]
    assert copied
    assert [path for path in copied if not (ROOT / path).is_dir()] == []
    assert [path for path in copied if not any(fnmatch(path, f"{each}*") for each in sent)] == []


def test_what_a_step_names_exists() -> None:
    steps = " ".join(step for stage in STAGES.values() for step in stage.all("RUN"))
    named = re.findall(r"\b(?:requirements|packages|apps)/\S+", steps)
    assert {"requirements/production-otlp.txt", "apps/service", "packages/orchestrator-domain"} <= set(named)
    assert [path for path in named if not (ROOT / path).exists()] == []
    packages = {str(path.relative_to(ROOT)) for path in (ROOT / "packages").iterdir()}
    assert packages <= set(named)


def test_every_library_is_installed_with_its_hash() -> None:
    steps = " && ".join(step for stage in STAGES.values() for step in stage.all("RUN")).split(" && ")
    installs = [step for step in steps if " install " in f"{step} "]
    assert installs
    assert [step for step in installs if "--require-hashes" not in step and "--no-index" not in step] == []
