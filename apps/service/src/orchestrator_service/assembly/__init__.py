"""The composition root: plain constructor calls, and the one package that sees all three adapters.

The rooms: `service` is the whole, `parts` what API and worker share, `catalogue`, `api` and `worker` what is made of it;
`issuers` asks those whom the API trusts.
"""

from orchestrator_service.assembly.catalogue import deployed_contracts
from orchestrator_service.assembly.issuers import issuer_reports
from orchestrator_service.assembly.service import Service, assembled

__all__ = ["Service", "assembled", "deployed_contracts", "issuer_reports"]
