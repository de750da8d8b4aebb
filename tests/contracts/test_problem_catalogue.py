"""Errors, problem table, catalogue and contract say the same, and what is served is what is written."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.http_service import http_service
from tests.plugins.openapi_contract import Contract, openapi_contract
from tools.publish_documents import PAGES, PUBLISHED, published_documents

import orchestrator_domain.errors
import orchestrator_domain.exact_json.text
import orchestrator_http.refusals
from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_http.problem import PROBLEMS
from orchestrator_http.problem_page import problem_page
from orchestrator_http.services import HttpSettings

# Promises between stores and workers, which reach no client.
TOLD_TO_NOBODY = {"LEASE_LOST", "CHECKPOINT_MOVED", "REQUEST_MOVED"}
SECTIONS = ["Cause", "Remedy", "Repeat the request?", "Example"]


@pytest.fixture(scope="module")
def contract() -> Contract:
    return openapi_contract()


def refusals() -> Iterator[type[OrchestratorError]]:
    rooms = (orchestrator_domain.errors, orchestrator_domain.exact_json.text, orchestrator_http.refusals)
    for room in rooms:
        for member in vars(room).values():
            if isinstance(member, type) and issubclass(member, OrchestratorError):
                yield member


def pages() -> list[Path]:
    return sorted(PAGES.iterdir())


def test_every_error_that_a_client_may_be_told_has_a_row_in_the_table() -> None:
    codes = {refusal.code for refusal in refusals()}
    assert codes - TOLD_TO_NOBODY == PROBLEMS.keys()


def test_every_problem_has_a_page_and_every_page_a_problem() -> None:
    assert [page.name for page in pages()] == sorted(f"{code}.md" for code in PROBLEMS)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_a_page_says_cause_remedy_and_repetition_and_shows_an_example(page: Path, contract: Contract) -> None:
    text = page.read_text(encoding="utf-8")
    kind = PROBLEMS[page.stem]
    assert text.startswith(f"# {page.stem}\n\n{kind.title}. Status {kind.status}.\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    for section in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]:
        assert section.strip()
    assert re.search(r"^## Repeat the request\?\n\n(Yes|No)[,;. ]", text, re.MULTILINE)
    example: Any = parse_json(text.partition("```json\n")[2].partition("```")[0])
    assert contract.faults(contract.document["components"]["schemas"]["Problem"], example) == []
    assert (example["code"], example["status"], example["title"]) == (page.stem, kind.status, kind.title)


def test_the_package_holds_contract_and_catalogue_as_they_are_written() -> None:
    """`make publish` copies them."""
    expected = published_documents()
    for place, content in expected.items():
        assert (PUBLISHED / place).read_bytes() == content, place
    assert {f"problems/{page.name}" for page in (PUBLISHED / "problems").iterdir()} <= expected.keys()


async def test_documents_are_served_to_anybody_where_they_are_switched_on(contract: Contract) -> None:
    service = http_service(HttpSettings(api_docs_enabled=True))
    documents = ["/docs", "/docs/contract.js", "/openapi.json", "/openapi.yaml"]
    for path in [*documents, *(f"/problems/{code}" for code in PROBLEMS)]:
        answer = await service.client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert parse_json((await service.client.get("/openapi.json")).content) == contract.document
    unknown = await service.client.get("/problems/NOTHING")
    assert unknown.status_code == 404
    page = await service.client.get("/problems/NOT_FOUND")
    assert "<h1>NOT_FOUND</h1>" in page.text
    assert contract.answer_faults(page) == []
    assert contract.answer_faults(unknown) == []


async def test_documents_do_not_exist_unless_they_are_switched_on() -> None:
    service = http_service()
    for path in ("/docs", "/docs/contract.js", "/openapi.json", "/openapi.yaml", "/problems/NOT_FOUND"):
        assert (await service.client.get(path)).status_code == 404


async def test_nothing_on_a_page_comes_from_elsewhere() -> None:
    service = http_service(HttpSettings(api_docs_enabled=True))
    for path in ("/docs", "/docs/contract.js", "/problems/NOT_FOUND"):
        answer = await service.client.get(path)
        assert not re.search(r"(?:https?:)?//[a-z]", answer.text.replace("// ", ""))
        assert "innerHTML" not in answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_page_shows_markup_in_its_text_as_text() -> None:
    page = problem_page("# <A>\n\nSay `<b>` & <i>.\n\n```json\n</pre><script>\n```\n")
    assert "<h1>&lt;A&gt;</h1>" in page
    assert "<code>&lt;b&gt;</code> &amp; &lt;i&gt;" in page
    assert "<script>" not in page
