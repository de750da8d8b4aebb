"""One request of the example flow, moved on by the people who work with it."""

from typing import Any, Self

from attrs import frozen
from tests.plugins.api_user import User
from tests.plugins.running_service import SCOPE, RunningService
from tests.plugins.scripted_providers import ScriptedProviders

APPLICANT = "solicitante-1"
CONSENT = {"consentReference": "CONSENT-1"}


@frozen(kw_only=True)
class CreditRequest:
    """A request that its applicant has created, and the analyst who works on it."""

    applicant: User
    analyst: User
    providers: ScriptedProviders
    id: str

    @classmethod
    def created(cls, service: RunningService, providers: ScriptedProviders, type_key: str) -> Self:
        applicant = service.user(APPLICANT, roles=("SOLICITANTE",))
        request_id = applicant.create(type_key, {"montoSolicitado": 150000, "plazoMeses": 24})
        return cls(applicant=applicant, analyst=service.user(), providers=providers, id=request_id)

    def shown(self) -> dict[str, Any]:
        """Return it as the analyst sees it."""
        return self.analyst.shown(self.id)

    def assign(self, client: str = "CLI-71") -> dict[str, Any]:
        return self.analyst.run(self.id, "ASIGNAR_CLIENTE", {"clienteId": client})

    def upload(self, document_type: str, **facts: Any) -> str:
        """Put a document of the applicant into the document service, and return its id."""
        order = {"owner": APPLICANT, "scope": SCOPE, "document_type": document_type, **facts}
        return self.providers.add_document(**order)

    def register(self, document_type: str, document: str | None = None) -> dict[str, Any]:
        """Register a document, a good one of its own unless one is named."""
        event = f"REGISTRAR_{document_type.removesuffix('_CONDUCIR')}"
        named = document or self.upload(document_type)
        return self.applicant.run(self.id, event, {"documentId": named})

    def consult_bureau(self) -> dict[str, Any]:
        return self.analyst.run(self.id, "VALIDAR_BURO", CONSENT)
