"""The composition root: plain constructor calls, and the one package that sees all three adapters.

The rooms: `service` is the whole, `parts` what API and worker share, `catalogue`, `api` and `worker` what is made of it.
"""

from orchestrator_service.assembly.service import Service, assembled

__all__ = ["Service", "assembled"]
