"""Whether a deployment still means by its contracts what flows were published with.

A contract may be replaced under a new version; under a published one its meaning stays (specification, section 9).
"""

from collections.abc import Callable, Iterable

from attrs import frozen

from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.identifiers import FlowId, FlowKey

type ContractNamedBy = Callable[[PinnedContract], ActionContract | None]
"""Finds the deployed contract with the names and versions of a pin, whatever its checksum."""


@frozen(kw_only=True)
class PinnedFlow:
    """A published version and the contracts that it is held to."""

    id: FlowId
    flow_key: FlowKey
    version: int
    contracts: tuple[PinnedContract, ...]


@frozen(kw_only=True)
class Deviation:
    """One action of a flow whose pinned contract the deployment doesn't have as it was pinned."""

    flow: PinnedFlow
    pin: PinnedContract


@frozen(kw_only=True)
class Deviations:
    """What of the pins doesn't hold.

    `changed`: another meaning under the pinned version, which no process may serve with. `missing`: no such version, which
    only the executions that need it are told.
    """

    changed: tuple[Deviation, ...]
    missing: tuple[Deviation, ...]


def deviations(flows: Iterable[PinnedFlow], named_by: ContractNamedBy) -> Deviations:
    """Hold every pin of the flows against the deployed contracts."""
    changed: list[Deviation] = []
    missing: list[Deviation] = []
    for flow in flows:
        for pin in flow.contracts:
            deployed = named_by(pin)
            if deployed is None:
                missing.append(Deviation(flow=flow, pin=pin))
            elif deployed.checksum != pin.checksum:
                changed.append(Deviation(flow=flow, pin=pin))
    return Deviations(changed=tuple(changed), missing=tuple(missing))
