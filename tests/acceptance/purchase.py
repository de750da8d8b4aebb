"""One purchase of the example flow, brought to where its payment has failed."""

from typing import Any

from attrs import evolve, frozen
from tests.acceptance.flows import compra
from tests.plugins.api_user import User, exact
from tests.plugins.execution_evidence import Evidence
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders

PAYMENTS = "/pagos/autorizaciones"
EVIDENCE = {"text": "The ledger of the payment provider was read.", "reference": "OPS-17"}


@frozen(kw_only=True)
class Purchase:
    """A purchase that is being paid, and the people around it; `stop` is the one that its operator has seen."""

    service: RunningService
    providers: ScriptedProviders
    cashier: User
    request_id: str
    execution_id: str
    stop: int | None = None

    @property
    def operator(self) -> User:
        return self.service.user("operador-1", roles=("EXECUTION_OPERATOR",))

    def resolve(self, way: dict[str, Any], *, key: str = "resolve-1", operator: User | None = None) -> Any:
        body = {"actionId": "autorizar", "stop": self.stop, "evidence": EVIDENCE, **way}
        path = f"/admin/executions/{self.execution_id}/resolve"
        return (operator or self.operator).call("POST", path, body, headers={"Idempotency-Key": key})

    def waiting(self) -> "Purchase":
        """Return the purchase as its operator finds it once it waits for one."""
        self.ended()
        shown = exact(self.operator.call("GET", f"/admin/executions/{self.execution_id}"))
        return evolve(self, stop=shown["stop"])

    def ended(self) -> dict[str, Any]:
        """Wait for the end of the execution, which a worker takes up again once it is resumed."""
        return self.cashier.ended(self.execution_id)

    def shown(self) -> dict[str, Any]:
        return self.cashier.shown(self.request_id)

    def charges(self) -> int:
        return self.providers.effects(PAYMENTS)

    def kinds(self) -> list[str]:
        """Return what the history tells, once its chain holds."""
        evidence = Evidence(service=self.service, request_id=self.request_id, execution_id=self.execution_id)
        return evidence.kinds()


def stopped_purchase(
    service: RunningService,
    providers: ScriptedProviders,
    failure: dict[str, Any],
    flow: dict[str, Any] | None = None,
) -> Purchase:
    """Return a purchase of the delivered flow, unless another is given, whose payment failed like this."""
    purchase = paying(service, providers, failure, flow or compra())
    ended = purchase.ended()
    assert (ended["status"], ended["errorCode"]) == ("RECONCILIATION_REQUIRED", "PROVIDER_TIMEOUT")
    return purchase.waiting()


def paying(
    service: RunningService, providers: ScriptedProviders, failure: dict[str, Any], flow: dict[str, Any]
) -> Purchase:
    """Return a purchase whose payment is on its way, and will fail like this."""
    cashier = service.user("cajera-1", roles=("CAJERO",))
    purchase = {"referencia": "COMPRA-1", "importe": 1250, "moneda": "MXN"}
    request_id = cashier.create(service.offer(flow), purchase)
    cashier.run(request_id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"})
    providers.script(PAYMENTS, failure)
    return Purchase(
        service=service,
        providers=providers,
        cashier=cashier,
        request_id=request_id,
        execution_id=cashier.start(request_id, "PAGAR"),
    )
