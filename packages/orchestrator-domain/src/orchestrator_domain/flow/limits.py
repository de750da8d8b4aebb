"""How large a flow and its requests' data may be (specification, section 6)."""

from typing import Any, Final

from attrs import field, frozen, validators

KIBIBYTE: Final = 1024
MEBIBYTE: Final = 1024 * KIBIBYTE

HARD_MAXIMUM: Final = "hard_maximum"
"""Under this key the metadata of each limit's attribute tells beyond what it can't be set."""


def _limit(default: int, *, hard_maximum: int) -> Any:
    return field(
        default=default,
        validator=[validators.instance_of(int), validators.ge(1), validators.le(hard_maximum)],
        metadata={HARD_MAXIMUM: hard_maximum},
    )


@frozen(kw_only=True)
class FlowLimits:
    """What an operator allows; each limit has a hard maximum beyond which it can't be set.

    Sizes are counted in canonical bytes. A condition's depth and a decision's nodes count operators, not operands.
    The limits of definitions are applied when a flow is validated for publication only, so lowering one never
    invalidates a published flow; `data_bytes_max` is applied at creation and at every commit.
    """

    definition_bytes_max: int = _limit(MEBIBYTE, hard_maximum=4 * MEBIBYTE)
    states_max: int = _limit(200, hard_maximum=1_000)
    transitions_max: int = _limit(500, hard_maximum=5_000)
    actions_max: int = _limit(50, hard_maximum=200)
    condition_depth_max: int = _limit(20, hard_maximum=25)
    decision_nodes_max: int = _limit(1_000, hard_maximum=10_000)
    data_bytes_max: int = _limit(256 * KIBIBYTE, hard_maximum=4 * MEBIBYTE)
