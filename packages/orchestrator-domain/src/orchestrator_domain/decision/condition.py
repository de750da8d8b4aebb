"""The syntax tree of conditions (flow-definition schema, section 6 of the specification).

Pointers are absolute inside the evaluation context: `/request/data…`, `/event/data…`, `/results/<key>…`, `/actor…`.
"""

from enum import StrEnum

from attrs import frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue


@frozen(kw_only=True)
class PathOperand:
    """Read the value at `pointer`."""

    pointer: Pointer


@frozen(kw_only=True)
class LiteralOperand:
    """Stand for `value` itself, any exact JSON."""

    value: JsonValue


type Operand = PathOperand | LiteralOperand


class Comparator(StrEnum):
    """Name the operators that compare two operands."""

    EQ = "EQ"
    NEQ = "NEQ"
    GT = "GT"
    GTE = "GTE"
    LT = "LT"
    LTE = "LTE"


@frozen(kw_only=True)
class Comparison:
    operator: Comparator
    left: Operand
    right: Operand


@frozen(kw_only=True)
class Membership:
    """`IN`: tell whether `left` is in the homogeneous list `right`."""

    left: Operand
    right: Operand


@frozen(kw_only=True)
class Existence:
    """`EXISTS`: tell whether anything, null included, is at the pointer."""

    pointer: Pointer


@frozen(kw_only=True)
class Conjunction:
    """`AND`, left to right, stopping at the first false."""

    operands: tuple["Condition", ...]


@frozen(kw_only=True)
class Disjunction:
    """`OR`, left to right, stopping at the first true."""

    operands: tuple["Condition", ...]


@frozen(kw_only=True)
class Negation:
    operand: "Condition"


type Condition = Comparison | Membership | Existence | Conjunction | Disjunction | Negation
