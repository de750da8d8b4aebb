"""Hold the catalogue, before a process serves, to what the flows in use were published with."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from structlog.stdlib import get_logger

from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.flow.pinned_meaning import ContractNamedBy, Deviation, PinnedFlow, deviations


def contract_faults(flows: Iterable[PinnedFlow], named_by: ContractNamedBy) -> tuple[str, ...]:
    """Return a sentence for each flow whose pinned contracts mean something else by now, and warn of missing ones.

    A version that isn't deployed stops no start, since other flows can do without it: executions that need it end in
    INTEGRATION_UNAVAILABLE.
    """
    found = deviations(flows, named_by)
    for flow, contracts in named_by_flow(found.missing):
        get_logger("orchestrator.catalogue").warning(
            "pinned_contracts_missing",
            flowKey=flow.flow_key,
            version=flow.version,
            contracts=contracts,
        )
    return tuple(_fault(flow, contracts) for flow, contracts in named_by_flow(found.changed))


def named_by_flow(deviating: Iterable[Deviation]) -> Sequence[tuple[PinnedFlow, str]]:
    """Return each flow once, with the names of its contracts that deviate."""
    grouped: defaultdict[PinnedFlow, list[PinnedContract]] = defaultdict(list)
    for deviation in deviating:
        grouped[deviation.flow].append(deviation.pin)
    return [(flow, ", ".join(dict.fromkeys(map(_named, pins)))) for flow, pins in grouped.items()]


def _fault(flow: PinnedFlow, contracts: str) -> str:
    return (
        f"The catalogue means something else by {contracts} than flow {flow.flow_key} version {flow.version} was "
        "published with: give a changed contract a new version, and keep the published one."
    )


def _named(pin: PinnedContract) -> str:
    profile = "" if pin.profile is None else f" with profile {pin.profile} version {pin.profile_version}"
    return f"{pin.integration_key or pin.action_type} version {pin.contract_version}{profile}"
