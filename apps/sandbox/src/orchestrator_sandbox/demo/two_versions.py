"""The second part of the demonstration: a version with a licence beside the one without."""

from collections.abc import Iterator

from attrs import define

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.case import Office
from orchestrator_sandbox.demo.configurator import Configurator
from orchestrator_sandbox.demo.credit_case import TYPE_KEY, CreditCase
from orchestrator_sandbox.demo.step import Step


@define(kw_only=True)
class TwoVersions:
    """A request that began with version 1, and one that begins once version 2 is active."""

    configurator: Configurator
    office: Office
    second_flow: JsonObject
    _older: CreditCase | None = None
    _newer: CreditCase | None = None

    def steps(self) -> Iterator[Step]:
        """Return the steps in their order; later ones build on earlier ones."""
        yield Step(
            name="version 2 published and activated",
            expected=("PUBLISHED, active for CREDITO",),
            act=self._publish,
        )
        yield Step(
            name="requests before and after",
            expected=("version 1 and version 2",),
            act=self._versions,
        )
        yield Step(
            name="version 1 goes on as before", expected=("BURO_PENDIENTE, then N, PASO_N",), act=self._go_on
        )
        yield Step(name="version 2 asks for the licence", expected=("LICENCIA_PENDIENTE",), act=self._ask)
        yield Step(
            name="licence registered", expected=("DOCUMENTO_VALIDO, BURO_PENDIENTE",), act=self._register
        )
        yield Step(name="version 2 at the bureau", expected=("N, PASO_N",), act=self._consult)

    def _publish(self) -> str:
        self._older = CreditCase.created(self.office)
        flow_id, status = self.configurator.published(self.second_flow)
        if status != "PUBLISHED":
            return status
        return f"{status}, {self.configurator.replace(TYPE_KEY, flow_id)}"

    def _versions(self) -> str:
        self._newer = CreditCase.created(self.office)
        return f"version {self._old().version()} and version {self._new().version()}"

    def _go_on(self) -> str:
        return f"{self._old().prepare('CLI-71')}, then {self._old().consult_bureau()}"

    def _ask(self) -> str:
        return self._new().prepare("CLI-71")

    def _register(self) -> str:
        return self._new().register_licence()

    def _consult(self) -> str:
        return self._new().consult_bureau()

    def _old(self) -> CreditCase:
        assert self._older is not None, "the first step has created it"
        return self._older

    def _new(self) -> CreditCase:
        assert self._newer is not None, "the second step has created it"
        return self._newer
