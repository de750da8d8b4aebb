"""Pools of connections, one per endpoint, made anew when what their TLS is made of has rotated."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext

import httpx2
from attrs import define

from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.provider_transport import CheckedTransport, Resolve
from orchestrator_worker.route import Endpoint
from orchestrator_worker.tls import TlsMaterial, tls_context, tls_material, usual_tls


@define
class _Pool:
    client: httpx2.AsyncClient
    material: TlsMaterial
    in_use: int = 0
    is_retired: bool = False


class ProviderPools:
    """Lend the pool of an endpoint. Never redirected, never through a proxy of the environment, no cookies."""

    def __init__(self, *, values: DeploymentValues, resolve: Resolve) -> None:
        self._values = values
        self._resolve = resolve
        self._pools: dict[str, _Pool] = {}
        # Loading the trusted authorities takes long enough to be done once in a process, before any call.
        self._usual_tls = usual_tls()

    @asynccontextmanager
    async def lent(self, endpoint: Endpoint) -> AsyncIterator[httpx2.AsyncClient]:
        """Lend a pool whose certificates are those of this moment; raise ValueUnavailable if they can't be had."""
        pool = await self._current(endpoint)
        pool.in_use += 1
        try:
            yield pool.client
        finally:
            pool.in_use -= 1
            await _closed_if_done(pool)

    async def close(self) -> None:
        """Close every connection."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.client.aclose()

    async def _current(self, endpoint: Endpoint) -> _Pool:
        material = tls_material(endpoint, self._values)
        known = self._pools.get(endpoint.name)
        if known is not None and known.material == material:
            return known
        self._pools[endpoint.name] = fresh = _Pool(self._new(endpoint, material), material)
        if known is not None:
            # Calls under way end on the connections that they have.
            known.is_retired = True
            await _closed_if_done(known)
        return fresh

    def _new(self, endpoint: Endpoint, material: TlsMaterial) -> httpx2.AsyncClient:
        transport = CheckedTransport(
            tls=self._tls(endpoint, material),
            networks=endpoint.networks,
            resolve=self._resolve,
            connections_max=endpoint.connections_max,
        )
        return httpx2.AsyncClient(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            # Cookies are neither sent nor gathered.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    def _tls(self, endpoint: Endpoint, material: TlsMaterial) -> SSLContext:
        return self._usual_tls if material == TlsMaterial() else tls_context(endpoint, material)


async def _closed_if_done(pool: _Pool) -> None:
    if pool.is_retired and pool.in_use == 0:
        await pool.client.aclose()
