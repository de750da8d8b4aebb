"""A19 the final write fails."""

from collections.abc import Callable, Iterator

import pytest
from tests.acceptance.flows import registering
from tests.plugins.execution_evidence import LOOKUP, Evidence
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

RECORDS = "/registros"
PAYMENTS = "/pagos/autorizaciones"


@pytest.fixture(params=["the-result", "the-history", "the-state"])
def failing_completion(
    request: pytest.FixtureRequest, service: RunningService
) -> Iterator[Callable[[], None]]:
    """A database that refuses one part of every completion until it is told to stop."""
    statement = {
        "the-result": "BEFORE UPDATE ON orchestrator.execution FOR EACH ROW WHEN (NEW.status = 'SUCCEEDED')",
        "the-history": (
            "BEFORE INSERT ON orchestrator.audit_entry FOR EACH ROW WHEN (NEW.kind = 'TRANSITION_COMPLETED')"
        ),
        "the-state": (
            "BEFORE UPDATE ON orchestrator.request_instance FOR EACH ROW"
            " WHEN (NEW.current_state <> OLD.current_state)"
        ),
    }[request.param]
    database = service.database
    table = statement.split()[3]
    database.execute(
        "CREATE FUNCTION public.refuse_completion() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'disk_full'; END $$"
    )
    database.execute(
        f"CREATE TRIGGER refuse_completion {statement} EXECUTE FUNCTION public.refuse_completion()"
    )

    def recover() -> None:
        database.execute(f"ALTER TABLE {table} DISABLE TRIGGER refuse_completion")

    yield recover
    database.execute(f"DROP TRIGGER refuse_completion ON {table}")
    database.execute("DROP FUNCTION public.refuse_completion()")


@pytest.mark.parametrize(
    ("integration", "path"), [("REGISTRO_CREA", RECORDS), ("PAGO_AUTORIZA", PAYMENTS)], ids=["safe", "unsafe"]
)
def test_a19_a_transition_whose_last_write_fails_happens_later_and_whole(
    service: RunningService,
    providers: ScriptedProviders,
    failing_completion: Callable[[], None],
    integration: str,
    path: str,
) -> None:
    analyst = service.user()
    request = analyst.create(service.offer(registering(integration)))
    execution = analyst.start(request, "REGISTRAR")
    evidence = Evidence(service=service, request_id=request, execution_id=execution)
    evidence.await_checkpoint("escribir", "SUCCEEDED")
    wait_until("the worker telling of the fault", lambda: _told_of_a_fault(service, execution))

    # Nothing of the transition is there, but what the actions brought is.
    seen = analyst.shown(request)
    assert (seen["state"], seen["revision"], seen["data"]) == ("ABIERTA", 1, {})
    assert analyst.execution(execution)["status"] == "RUNNING"
    assert evidence.checkpoints() == {"consultar": ("SUCCEEDED", 1), "escribir": ("SUCCEEDED", 1)}
    assert evidence.kinds() == ["REQUEST_CREATED", "EVENT_ACCEPTED"]

    failing_completion()
    evidence.let_lease_expire()
    assert analyst.ended(execution)["status"] == "SUCCEEDED"

    assert len(providers.calls(LOOKUP)) == len(providers.calls(path)) == 1
    assert (analyst.shown(request)["state"], analyst.shown(request)["revision"]) == ("REGISTRADA", 2)
    assert evidence.kinds() == ["REQUEST_CREATED", "EVENT_ACCEPTED", "TRANSITION_COMPLETED"]


def _told_of_a_fault(service: RunningService, execution_id: str) -> bool:
    return any(
        "worker_disturbed" in line and execution_id in line for line in service.process.log().splitlines()
    )
