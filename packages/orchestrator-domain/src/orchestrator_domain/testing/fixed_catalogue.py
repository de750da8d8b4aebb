"""A catalogue given as contracts, for tests, simulation and embedding."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.contract import ActionContract, ContractFault
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT


class FixedCatalogue(IntegrationCatalogue):
    """Resolve actions among these contracts; the newest is the one of the highest versions.

    `configuration_schemas` says, by action type, which further members an action may have: none without a schema.
    `simulation` adds NO_OP, which may not run anywhere else.
    """

    def __init__(
        self,
        contracts: Iterable[ActionContract],
        *,
        configuration_schemas: Mapping[str, JsonValue] | None = None,
        simulation: bool = False,
    ) -> None:
        known = (*contracts, NO_OP_CONTRACT) if simulation else tuple(contracts)
        self._contracts = tuple(sorted(known, key=_age))
        self._configurations = {
            action_type: compile_schema(schema)
            for action_type, schema in (configuration_schemas or {}).items()
        }

    def action_types(self) -> Collection[str]:
        return tuple(dict.fromkeys(contract.action_type for contract in self._contracts))

    def current(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        faults = tuple(self._configuration_faults(action))
        found = self._newest(action)
        if isinstance(found, ContractFault):
            return (found, *faults)
        return faults or found

    def pinned(self, pin: PinnedContract) -> ActionContract | None:
        named = (contract for contract in self._contracts if _is_named_by(contract, pin))
        return next(named, None)

    def _newest(self, action: ActionDefinition) -> ActionContract | ContractFault:
        """Narrow the contracts by one member of the action after the other; where none is left, that is the fault."""
        left = self._contracts
        for code, pointer, matches in _narrowings(action):
            left = tuple(contract for contract in left if matches(contract))
            if not left:
                message = "The catalogue has nothing of this name."
                return ContractFault(code=code, pointer=pointer, message=message)
        return left[-1]

    def _configuration_faults(self, action: ActionDefinition) -> Iterator[ContractFault]:
        schema = self._configurations.get(action.type)
        if schema is not None:
            for violation in schema.violations(action.configuration):
                yield ContractFault(
                    code="INVALID_CONFIGURATION", pointer=violation.pointer, message=violation.message
                )
            return
        for member in action.configuration:
            pointer = str(Pointer.root().child(member))
            message = "An action of this type has no such member; leave it out."
            yield ContractFault(code="UNKNOWN_MEMBER", pointer=pointer, message=message)


type _Narrowing = tuple[str, str, Callable[[ActionContract], bool]]


def _narrowings(action: ActionDefinition) -> tuple[_Narrowing, ...]:
    return (
        ("UNKNOWN_ACTION_TYPE", "/type", lambda contract: contract.action_type == action.type),
        (
            "UNKNOWN_INTEGRATION",
            "/integrationKey",
            lambda contract: contract.integration_key == action.integration_key,
        ),
        ("UNKNOWN_PROFILE", "/profile", lambda contract: contract.profile == action.profile),
        (
            "UNKNOWN_CONTRACT_VERSION",
            "/contractVersion",
            lambda contract: action.contract_version in (None, contract.contract_version),
        ),
    )


def _age(contract: ActionContract) -> tuple[int, int]:
    return (contract.contract_version, contract.profile_version or 0)


def _is_named_by(contract: ActionContract, pin: PinnedContract) -> bool:
    return (
        contract.action_type,
        contract.integration_key,
        contract.contract_version,
        contract.profile,
        contract.profile_version,
        contract.checksum,
    ) == (
        pin.action_type,
        pin.integration_key,
        pin.contract_version,
        pin.profile,
        pin.profile_version,
        pin.checksum,
    )
