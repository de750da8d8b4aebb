"""Hypothesis strategies for decisions, and for contexts in which they meet every kind."""

from decimal import Decimal
from typing import Final

from hypothesis import strategies as st

from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Existence,
    LiteralOperand,
    Membership,
    Negation,
    Operand,
    PathOperand,
)
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.identifiers import DecisionKey, RuleKey

VALUES: Final[list[JsonValue]] = [
    None,
    False,
    True,
    0,
    1,
    -1,
    70,
    2**53 + 1,
    Decimal("1.0"),
    Decimal("1e0"),
    Decimal("0.3"),
    Decimal("0.30000000000000004"),
    Decimal("1e-30"),
    "",
    "1",
    "é",
    "e\u0301",
    [],
    [1, Decimal("1.0"), 2],
    [True, False],
    [True, 1],
    [None],
    ["1", "é"],
    [[1]],
    {},
    {"score": 1},
]
"""Every kind, with what is easily mistaken for one another."""


def decisions() -> st.SearchStrategy[DecisionDefinition]:
    """Draw decisions of one to four rules, with conditions of every operator over few paths."""
    return st.builds(_decision, st.sampled_from(HitPolicy), st.lists(conditions(), min_size=1, max_size=4))


def conditions() -> st.SearchStrategy[Condition]:
    return st.recursive(_leaves(), _connected, max_leaves=8)


def decision_contexts() -> st.SearchStrategy[EvaluationContext]:
    """Draw contexts out of the same few member names that the paths are made of."""
    return st.dictionaries(_tokens(), _values(), max_size=4)


def _decision(policy: HitPolicy, drawn: list[Condition]) -> DecisionDefinition:
    rules = tuple(
        Rule(id=RuleKey(f"r{number}"), when=condition, output="SAME")
        for number, condition in enumerate(drawn)
    )
    return DecisionDefinition(id=DecisionKey("D"), hit_policy=policy, rules=rules, default_output="DEFAULT")


def _connected(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    operands = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Conjunction, operands=operands),
        st.builds(Disjunction, operands=operands),
        st.builds(Negation, operand=inner),
    )


def _leaves() -> st.SearchStrategy[Condition]:
    return st.one_of(
        st.builds(Comparison, operator=st.sampled_from(Comparator), left=_operands(), right=_operands()),
        st.builds(Membership, left=_operands(), right=_operands()),
        st.builds(Existence, pointer=_pointers()),
    )


def _operands() -> st.SearchStrategy[Operand]:
    return st.builds(PathOperand, pointer=_pointers()) | st.builds(LiteralOperand, value=_values())


def _pointers() -> st.SearchStrategy[Pointer]:
    return st.lists(_tokens(), max_size=4).map(lambda tokens: Pointer(tokens=tuple(tokens)))


def _values() -> st.SearchStrategy[JsonValue]:
    return st.recursive(
        st.sampled_from(VALUES),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_tokens(), inner, max_size=3),
        max_leaves=8,
    )


def _tokens() -> st.SearchStrategy[str]:
    return st.sampled_from(["a", "b", "0", "1"])
