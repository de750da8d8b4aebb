"""Whether the process lives, and whether it should be sent requests."""

from collections.abc import Awaitable, Callable

from attrs import frozen
from starlette.responses import Response

from orchestrator_http.payloads import json_response
from orchestrator_http.refusals import NotReady

type ReadinessProbe = Callable[[], Awaitable[str | None]]
"""Say in a few words why no requests should come now, or None. The words are public: no addresses, no driver texts."""


@frozen(kw_only=True)
class HealthHandlers:
    """Answer whoever supervises the process; nobody needs a token for it."""

    readiness: ReadinessProbe

    async def live(self) -> Response:
        """Answer as long as the process can: it asks nobody, so a provider's or database's fault restarts nothing."""
        return json_response({"status": "live"})

    async def ready(self) -> Response:
        """Answer 200, or 503 while the store doesn't answer or the process drains."""
        reason = await self.readiness()
        if reason is not None:
            raise NotReady(f"The service takes no requests now: {reason}.")
        return json_response({"status": "ready"})
