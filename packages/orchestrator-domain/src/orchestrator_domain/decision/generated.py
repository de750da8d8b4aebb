"""A decision as one generated Python function over many rows.

The function is built as a syntax tree out of the decision's own, never as text. What the definition says (member names,
literals, results) enters as values that the code is called with, under names that are made here.

Rows that meet a fault or match twice are handed to the closures of `compiled`, so that both answer them alike; what is
generated is the way of ordinary rows.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
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


@frozen(kw_only=True)
class GeneratedDecision:
    """A decision made ready for many rows; each row gets the result that the evaluator gives it alone.

    - `over_contexts` reads whole contexts.
    - `over_values` takes, for each row, the values at `paths` only (ABSENT where nothing is).
    """

    paths: tuple[Pointer, ...]
    over_contexts: Callable[[Iterable[EvaluationContext]], Iterator[DecisionResult]]
    over_values: Callable[[Iterable[Values]], Iterator[DecisionResult]]


def generate_decision(definition: DecisionDefinition) -> GeneratedDecision:
    """Generate the functions of a decision."""
    paths, decide = paths_read(definition), compile_decision(definition)
    return GeneratedDecision(
        paths=paths,
        over_contexts=_generated(definition, paths, _from_context, decide),
        over_values=_generated(definition, paths, _from_values, _over_values(paths, decide)),
    )


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


# The function, whose only globals are what is given, without so much as a builtin.

type _ReadRow = Callable[[Sequence[Pointer], Given], list[ast.stmt]]


def _generated(
    definition: DecisionDefinition,
    paths: Sequence[Pointer],
    read_row: _ReadRow,
    decide_alone: Callable[[Any], DecisionResult],
) -> Callable[[Iterable[Any]], Iterator[DecisionResult]]:
    given = Given()
    row = [*read_row(paths, given), *_types(paths, given), _decided(definition, paths, given, decide_alone)]
    loop = ast.For(target=_store("row"), iter=_load("rows"), body=row, orelse=[])
    module = ast.Module(body=[_function("decide_rows", "rows", [loop])], type_ignores=[])
    code = compile(ast.fix_missing_locations(module), "<generated decision>", "exec")
    namespace = {"__builtins__": {}, **given.by_name()}
    exec(code, namespace)  # noqa: S102  # a tree of our own making, into which no text of a definition went
    return cast("Callable[[Iterable[Any]], Iterator[DecisionResult]]", namespace["decide_rows"])


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


def _decided(
    definition: DecisionDefinition,
    paths: Sequence[Pointer],
    given: Given,
    decide_alone: Callable[[Any], DecisionResult],
) -> ast.stmt:
    alone = _call(given.name(decide_alone), _load("row"))
    expressions = Expressions(pointers=paths, given=given)
    rules = [(expressions.of(rule.when), given.name(made(definition, rule))) for rule in definition.rules]
    by_default = given.name(made(definition, None))
    steps = (
        _unique(rules, by_default, alone)
        if definition.hit_policy is HitPolicy.UNIQUE
        else _first(rules, by_default)
    )
    on_fault = ast.ExceptHandler(type=given.name(ConditionFault), body=[_yield(alone)])
    return ast.Try(body=steps, handlers=[on_fault], orelse=[], finalbody=[])


type _Rules = Sequence[tuple[ast.expr, ast.expr]]


def _unique(rules: _Rules, by_default: ast.expr, alone: ast.expr) -> list[ast.stmt]:
    steps: list[ast.stmt] = [ast.Assign(targets=[_store("chosen")], value=by_default)]
    for matches, result in rules:
        is_first = ast.Compare(left=_load("chosen"), ops=[ast.Is()], comparators=[by_default])
        chosen = ast.IfExp(test=is_first, body=result, orelse=alone)
        steps.append(
            ast.If(test=matches, body=[ast.Assign(targets=[_store("chosen")], value=chosen)], orelse=[])
        )
    return [*steps, _yield(_load("chosen"))]


def _first(rules: _Rules, by_default: ast.expr) -> list[ast.stmt]:
    steps: list[ast.stmt] = [
        ast.If(test=matches, body=[_yield(result), ast.Continue()], orelse=[]) for matches, result in rules
    ]
    return [*steps, _yield(by_default)]


# Pieces of syntax.


def _subscripts(path: Pointer, given: Given) -> ast.expr:
    found = _load("row")
    for token in path.tokens:
        found = ast.Subscript(value=found, slice=given.name(token), ctx=ast.Load())
    return found


def _function(name: str, parameter: str, body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=parameter)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], type_params=[])


def _call(function: ast.expr, argument: ast.expr) -> ast.expr:
    return ast.Call(func=function, args=[argument], keywords=[])


def _yield(value: ast.expr) -> ast.stmt:
    return ast.Expr(value=ast.Yield(value=value))


def _load(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _store(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Store())
