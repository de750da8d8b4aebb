"""The whole suite of the port ExecutionQueue; each part is a file of its own."""

from orchestrator_domain.testing.contracts.claiming_contract import ClaimingContract
from orchestrator_domain.testing.contracts.completing_contract import CompletingContract
from orchestrator_domain.testing.contracts.fencing_contract import FencingContract
from orchestrator_domain.testing.contracts.parking_contract import ParkingContract
from orchestrator_domain.testing.contracts.renewing_contract import RenewingContract


class ExecutionQueueContract(
    ClaimingContract, RenewingContract, FencingContract, ParkingContract, CompletingContract
):
    """Every promise of the queue. Inherit this one."""
