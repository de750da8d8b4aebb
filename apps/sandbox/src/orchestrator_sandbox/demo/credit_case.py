"""One credit request, moved on by an applicant and an analyst."""

from typing import Self

from attrs import frozen

from orchestrator_sandbox.demo.case import SCOPE, Case, Event, Office, created_request

TYPE_KEY = "CREDITO"
APPLICANT = "solicitante-1"
ANALYST = "analista-1"


@frozen(kw_only=True)
class CreditCase(Case):
    """A credit request that was created."""

    @classmethod
    def created(cls, office: Office) -> Self:
        data = {"montoSolicitado": 150000, "plazoMeses": 24}
        return cls(office=office, request_id=created_request(office.applicant, TYPE_KEY, {**data}))

    def assign(self, client: str) -> str:
        return self.run(self.event("ASIGNAR_CLIENTE", {"clienteId": client}), self.office.clerk)

    def register_identification(self) -> str:
        return self._register("REGISTRAR_INE", "INE")

    def register_bank_statement(self) -> str:
        return self._register("REGISTRAR_ESTADO_CUENTA", "ESTADO_CUENTA")

    def register_licence(self) -> str:
        return self._register("REGISTRAR_LICENCIA", "LICENCIA_CONDUCIR")

    def consult_bureau(self) -> str:
        return self.run(self.bureau_event(), self.office.clerk)

    def bureau_event(self) -> Event:
        return self.event("VALIDAR_BURO", {"consentReference": "CONSENT-1"})

    def prepare(self, client: str) -> str:
        """Take the request past its bank statement, and tell where it is then."""
        self.assign(client)
        self.register_identification()
        self.register_bank_statement()
        return self.state()

    def _register(self, event: str, document_type: str) -> str:
        document = self.office.doubles.add_document(owner=APPLICANT, scope=SCOPE, document_type=document_type)
        return self.run(self.event(event, {"documentId": document}), self.office.applicant)
