"""A request whose personal data was erased on demand says so wherever it is read, and takes no more events."""

import pytest
from tests.acceptance.credit import CreditRequest
from tests.plugins.api_user import code_of
from tests.plugins.running_service import RunningService

from orchestrator_service.cli import main


def test_an_erased_request_says_so_and_takes_no_more_events(
    credit: CreditRequest, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    credit.assign()
    stale = credit.applicant.tag(credit.id)
    monkeypatch.setenv("RETENTION_DATABASE_URL", service.database.retention_url)

    assert main(["retention", "run", "--request", credit.id, "--open-requests", "--execute"]) == 0

    shown = credit.shown()
    assert (shown["data"], "dataErasedAt" in shown) == ({}, True)
    assert credit.applicant.tag(credit.id) != stale
    auditor = service.user("auditora-1", roles=("AUDITOR",))
    *earlier, last = auditor.call("GET", f"/requests/{credit.id}/history").json()["items"]
    assert {entry["detail"] is None for entry in earlier} == {True}
    assert (last["kind"], "HISTORY" in last["detail"]["erased"]) == ("PERSONAL_DATA_ERASED", True)
    events = credit.applicant.call("GET", f"/requests/{credit.id}/available-events").json()
    assert events["events"] == events["blocked"] == []
    sent = credit.applicant.send(credit.id, "REGISTRAR_INE", {}, tag="*")
    assert code_of(sent) == (409, "REQUEST_ERASED")
