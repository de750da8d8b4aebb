"""A decision as one generated Python function over many rows.

The function is built as a syntax tree out of the decision's own, never as text. What the definition says (member names,
literals, results) enters as values that the code is called with, under names that are made here.

Rows that meet a fault or match twice are handed to the closures of `compiled`, so that both answer them alike; what is
generated is the way of ordinary rows.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, cast

from attrs import frozen

from orchestrator_domain.decision.compiled import CompiledDecision, compile_decision, made
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy
from orchestrator_domain.decision.generated_conditions import Expressions, Given
from orchestrator_domain.decision.operators import ConditionFault
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.decision.space import compared, leaves
from orchestrator_domain.decision.witness import with_value_at
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue

type Values = Sequence[JsonValue | Absent]
"""What is at each of the paths that a decision reads, in the order of `paths_read`."""

_NO_PLAIN_OBJECT: Final = (KeyError, TypeError, IndexError)


@frozen(kw_only=True, slots=False)
class GeneratedDecision:
    """A decision made ready for many rows; each row gets the result that the evaluator gives it alone.

    - `over_contexts` reads whole contexts, `over_context` a single one.
    - `over_values` takes, for each row, the values at `paths` only (ABSENT where nothing is).

    Each function is made when it is first asked for.
    """

    _definition: DecisionDefinition
    paths: tuple[Pointer, ...]

    @cached_property
    def over_context(self) -> CompiledDecision:
        return _over_row(self._definition, _from_context, self._decide)

    @cached_property
    def over_contexts(self) -> Callable[[Iterable[EvaluationContext]], Iterator[DecisionResult]]:
        return _over_rows(self._definition, _from_context, self._decide)

    @cached_property
    def over_values(self) -> Callable[[Iterable[Values]], Iterator[DecisionResult]]:
        return _over_rows(self._definition, _from_values, _over_values(self.paths, self._decide))

    @cached_property
    def _decide(self) -> CompiledDecision:
        return compile_decision(self._definition)


def generate_decision(definition: DecisionDefinition) -> GeneratedDecision:
    """Make a decision ready for many rows."""
    return GeneratedDecision(definition=definition, paths=paths_read(definition))


def generate_single(definition: DecisionDefinition) -> CompiledDecision:
    """Generate the function that decides one context at a time."""
    return _over_row(definition, _from_context, compile_decision(definition))


def paths_read(definition: DecisionDefinition) -> tuple[Pointer, ...]:
    """Return each path that a rule reads, once, in the order of the rules."""
    return tuple(
        dict.fromkeys(
            pointer
            for rule in definition.rules
            for leaf in leaves(rule.when)
            for pointer, _ in compared(leaf)
        )
    )


def _over_values(paths: Sequence[Pointer], decide: CompiledDecision) -> Callable[[Values], DecisionResult]:
    root = next((number for number, path in enumerate(paths) if not path.tokens), None)
    in_order = sorted(range(len(paths)), key=lambda number: len(paths[number].tokens))

    def decide_values(values: Values) -> DecisionResult:
        if root is not None:
            return decide(cast("EvaluationContext", values[root]))
        context: EvaluationContext = {}
        for number in in_order:
            value = values[number]
            if value is not ABSENT:
                context = with_value_at(context, paths[number], value) or context
        return decide(context)

    return decide_values


# The functions, whose only globals are what is given, without so much as a builtin.

type _ReadRow = Callable[[Sequence[Pointer], Given], list[ast.stmt]]
type _Answer = Callable[[ast.expr], list[ast.stmt]]
type _DecideAlone = Callable[[Any], DecisionResult]


def _over_row(
    definition: DecisionDefinition, read_row: _ReadRow, decide_alone: _DecideAlone
) -> Callable[[Any], DecisionResult]:
    given = Given()
    body = _decided_row(definition, given, read_row, decide_alone, _returned)
    return cast("Callable[[Any], DecisionResult]", _function("row", body, given))


def _over_rows(
    definition: DecisionDefinition, read_row: _ReadRow, decide_alone: _DecideAlone
) -> Callable[[Iterable[Any]], Iterator[DecisionResult]]:
    given = Given()
    body = _decided_row(definition, given, read_row, decide_alone, _yielded)
    loop = ast.For(target=_store("row"), iter=_load("rows"), body=body, orelse=[])
    return cast("Callable[[Iterable[Any]], Iterator[DecisionResult]]", _function("rows", [loop], given))


def _function(parameter: str, body: list[ast.stmt], given: Given) -> Any:
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=parameter)], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    decide = ast.FunctionDef(name="decide", args=arguments, body=body, decorator_list=[], type_params=[])
    module = ast.fix_missing_locations(ast.Module(body=[decide], type_ignores=[]))
    namespace = {"__builtins__": {}, **given.by_name()}
    exec(compile(module, "<generated decision>", "exec"), namespace)  # noqa: S102  # a tree of our own making, into which no text of a definition went
    return namespace["decide"]


def _decided_row(
    definition: DecisionDefinition,
    given: Given,
    read_row: _ReadRow,
    decide_alone: _DecideAlone,
    answer: _Answer,
) -> list[ast.stmt]:
    paths = paths_read(definition)
    alone = _call(given.name(decide_alone), _load("row"))
    expressions = Expressions(pointers=paths, given=given)
    rules = [(expressions.of(rule.when), given.name(made(definition, rule))) for rule in definition.rules]
    by_default = given.name(made(definition, None))
    steps = (
        _first(rules, by_default, answer)
        if definition.hit_policy is HitPolicy.FIRST
        else _unique(rules, by_default, alone, answer)
    )
    on_fault = ast.ExceptHandler(type=given.name(ConditionFault), body=answer(alone))
    decided = ast.Try(body=steps, handlers=[on_fault], orelse=[], finalbody=[])
    return [*read_row(paths, given), *_types(paths, given), decided]


def _from_context(paths: Sequence[Pointer], given: Given) -> list[ast.stmt]:
    """Look each path up in plain objects; arrays, absence and scalars on the way are the pointer's work."""
    missing = given.name(_NO_PLAIN_OBJECT)
    return [
        ast.Try(
            body=[ast.Assign(targets=[_store(f"value{number}")], value=_subscripts(path, given))],
            handlers=[
                ast.ExceptHandler(
                    type=missing,
                    body=[
                        ast.Assign(
                            targets=[_store(f"value{number}")],
                            value=_call(given.name(path.resolve), _load("row")),
                        )
                    ],
                )
            ],
            orelse=[],
            finalbody=[],
        )
        for number, path in enumerate(paths)
    ]


def _from_values(paths: Sequence[Pointer], _given: Given) -> list[ast.stmt]:
    if not paths:
        return []
    variables: list[ast.expr] = [_store(f"value{number}") for number in range(len(paths))]
    return [ast.Assign(targets=[ast.Tuple(elts=variables, ctx=ast.Store())], value=_load("row"))]


def _types(paths: Sequence[Pointer], given: Given) -> list[ast.stmt]:
    type_of = given.name(type)
    return [
        ast.Assign(targets=[_store(f"type{number}")], value=_call(type_of, _load(f"value{number}")))
        for number in range(len(paths))
    ]


type _Rules = Sequence[tuple[ast.expr, ast.expr]]


def _unique(rules: _Rules, by_default: ast.expr, alone: ast.expr, answer: _Answer) -> list[ast.stmt]:
    steps: list[ast.stmt] = [ast.Assign(targets=[_store("chosen")], value=by_default)]
    for matches, result in rules:
        is_first = ast.Compare(left=_load("chosen"), ops=[ast.Is()], comparators=[by_default])
        chosen = ast.IfExp(test=is_first, body=result, orelse=alone)
        steps.append(
            ast.If(test=matches, body=[ast.Assign(targets=[_store("chosen")], value=chosen)], orelse=[])
        )
    return [*steps, *answer(_load("chosen"))]


def _first(rules: _Rules, by_default: ast.expr, answer: _Answer) -> list[ast.stmt]:
    steps: list[ast.stmt] = [
        ast.If(test=matches, body=answer(result), orelse=[]) for matches, result in rules
    ]
    return [*steps, *answer(by_default)]


def _returned(value: ast.expr) -> list[ast.stmt]:
    return [ast.Return(value=value)]


def _yielded(value: ast.expr) -> list[ast.stmt]:
    return [ast.Expr(value=ast.Yield(value=value)), ast.Continue()]


# Pieces of syntax.


def _subscripts(path: Pointer, given: Given) -> ast.expr:
    found = _load("row")
    for token in path.tokens:
        found = ast.Subscript(value=found, slice=given.name(token), ctx=ast.Load())
    return found


def _call(function: ast.expr, argument: ast.expr) -> ast.expr:
    return ast.Call(func=function, args=[argument], keywords=[])


def _load(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _store(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Store())
