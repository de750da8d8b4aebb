"""A client of providers that is imported and made when the first call comes, beside the event loop."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.invoke_integration import Caller
from orchestrator_worker.provider_answer import CallOutcome, NotConfigured
from orchestrator_worker.provider_request import ProviderRequest

if TYPE_CHECKING:
    from orchestrator_worker.provider_client import ProviderClient

_NOT_TO_BE_MADE = (ImportError, OSError)


class LateProviderClient(Caller):
    """Make calls by one ProviderClient; those that come while it is being made wait for it.

    Where it can't be made, as without the system's trusted authorities, nothing is tried, and the next call tries again.
    Belongs to the event loop that uses it; use it as an async context manager.
    """

    def __init__(self, *, values: DeploymentValues) -> None:
        self._values = values
        self._making: asyncio.Task[ProviderClient] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._making is not None:
            with suppress(*_NOT_TO_BE_MADE):
                await (await self._making).close()

    async def call(self, request: ProviderRequest) -> CallOutcome:
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(_made, self._values))
        making = self._making
        try:
            # Shielded, for whoever waits first may leave first.
            client = await asyncio.shield(making)
        except _NOT_TO_BE_MADE:
            if self._making is making:
                self._making = None
            return NotConfigured()
        return await client.call(request)


def _made(values: DeploymentValues) -> "ProviderClient":
    # Its libraries and the trusted authorities are a tenth of a start, and a process that calls nobody needs neither. In a
    # thread, since leases are renewed and others are served meanwhile.
    from orchestrator_worker.provider_client import ProviderClient  # noqa: PLC0415 -- see above

    return ProviderClient(values=values)
