"""Documents lead where they say they lead, and what they tell to type exists."""

import json
import re
import shlex
from pathlib import Path

import pytest

from orchestrator_sandbox.cli import command_parser as sandbox_parser
from orchestrator_service.cli import command_parser as service_parser
from orchestrator_service.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    file
    for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md"))
    if "problems" not in file.parts
)
PARSERS = {"orchestrator": service_parser(), "orchestrator-sandbox": sandbox_parser()}
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
TARGETS = set(re.findall(r"^([.a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as they are made of them."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def typed_lines(text: str) -> list[str]:
    """Return the lines of all shell blocks, those that go on joined."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_every_link_leads_to_something(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    lost = []
    for path, anchor in LINK.findall(text):
        target = (file.parent / path) if path else file
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            lost.append(f"{path}#{anchor}")
    assert lost == []


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_every_command_that_is_told_to_type_exists_with_its_options(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = [line for line in typed_lines(file.read_text(encoding="utf-8")) if not _is_known(line)]
    assert unknown == [], capsys.readouterr().err


def _is_known(line: str) -> bool:
    found = re.search(r"(?:^|[\s(/])(orchestrator(?:-sandbox)?) ([a-z][^|>)#]*)", line)
    if found is None or line.startswith(("kubectl", "docker")):
        return True
    program, arguments = found.groups()
    # A role that a variable holds stands for a role.
    words = shlex.split(arguments.split(" > ")[0])
    try:
        PARSERS[program].parse_args(words)
    except SystemExit:
        return False
    return True


@pytest.mark.parametrize("line", ["orchestrator flay", "x=$(orchestrator flow diff a.json --sideways)"])
def test_a_command_that_does_not_exist_would_be_found(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not _is_known(line)
    assert "usage: " in capsys.readouterr().err


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_every_make_target_that_is_told_to_type_exists(file: Path) -> None:
    named = re.findall(
        r"^make (\.?[a-z-]+)", "\n".join(typed_lines(file.read_text(encoding="utf-8"))), re.MULTILINE
    )
    assert set(named) <= TARGETS | {".venv"}


def test_the_catalogue_of_the_guide_has_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guide = (ROOT / "docs" / "how-to" / "add-an-integration.md").read_text(encoding="utf-8")
    ((place, content),) = re.findall(r"Save this as `([^`]+)`:\n\n```json\n(.*?)```", guide, re.DOTALL)
    (tmp_path / place).write_text(content)

    assert main(["catalogue", "check", str(tmp_path / place)]) == 0
    assert json.loads(content)["integrations"][0]["integrationKey"] in guide.split("## 4.")[1]
    assert capsys.readouterr().err == ""


def test_every_guide_is_in_the_list_of_guides() -> None:
    listed = set(re.findall(r"\(([a-z-]+\.md)\)", (ROOT / "docs" / "how-to" / "README.md").read_text()))
    assert {file.name for file in (ROOT / "docs" / "how-to").glob("*.md")} == listed | {"README.md"}
