"""NO_OP: an action that does nothing, takes anything and gives what a scenario says. It exists in simulation only."""

from typing import Final

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.flow.contract import ActionContract, ContractFault, Effect, ResolveContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import Sha256Hex

NO_OP: Final = "NO_OP"

NO_OP_CONTRACT: Final = ActionContract(
    action_type=NO_OP,
    contract_version=1,
    checksum=Sha256Hex(sha256_hex({"actionType": NO_OP, "contractVersion": 1})),
    effect=Effect.READ_ONLY,
    input_schema={"type": "object"},
    output_schema={"type": "object"},
)


def with_no_op(resolve_contract: ResolveContract) -> ResolveContract:
    """Resolve as before, and NO_OP too."""

    def resolve(action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        return NO_OP_CONTRACT if action.type == NO_OP else resolve_contract(action)

    return resolve
