"""The scoring decision in other engines; answers one line of JSON for each line read.

`{"scores": […]}` sets the rows and is answered by the names of the engines, `{"measure": name}` by microseconds a row.
"""

import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import celpy  # type: ignore[import-not-found]  # in the peers' environment only
import jsonlogic_rs  # type: ignore[import-not-found]  # in the peers' environment only
import zen  # type: ignore[import-not-found]  # in the peers' environment only
from cel_expr_python import cel  # type: ignore[import-not-found]  # in the peers' environment only
from json_logic import jsonLogic  # type: ignore[import-not-found]  # in the peers' environment only

type Row = dict[str, Any]
type Decide = Callable[[Row], Any]

EXPRESSION = "results.buro.score > 70.0 ? 'N' : results.buro.score > 60.0 ? 'M' : 'MANUAL'"
LOGIC = {
    "if": [
        {">": [{"var": "results.buro.score"}, 70]},
        "N",
        {">": [{"var": "results.buro.score"}, 60]},
        "M",
        "MANUAL",
    ]
}
TABLE = {
    "nodes": [
        {"id": "in", "type": "inputNode", "name": "in"},
        {
            "id": "table",
            "type": "decisionTableNode",
            "name": "table",
            "content": {
                "hitPolicy": "first",
                "inputs": [{"id": "score", "name": "score", "field": "results.buro.score"}],
                "outputs": [{"id": "output", "name": "output", "field": "output"}],
                "rules": [
                    {"_id": "high", "score": "> 70", "output": "'N'"},
                    {"_id": "middle", "score": "(60..70]", "output": "'M'"},
                    {"_id": "other", "score": "", "output": "'MANUAL'"},
                ],
            },
        },
        {"id": "out", "type": "outputNode", "name": "out"},
    ],
    "edges": [
        {"id": "first", "sourceId": "in", "targetId": "table", "type": "edge"},
        {"id": "second", "sourceId": "table", "targetId": "out", "type": "edge"},
    ],
}


def zen_expression() -> Decide:
    compiled = zen.compile_expression(EXPRESSION)
    decide: Decide = compiled.evaluate
    return decide


def zen_table() -> Decide:
    decision = zen.ZenEngine().create_decision(json.dumps(TABLE))
    return lambda row: decision.evaluate(row)["result"]["output"]


def cel_expr_python() -> Decide:
    environment = cel.NewEnv(variables={"results": cel.Type.DYN})
    compiled = environment.compile(EXPRESSION)
    return lambda row: compiled.eval(data=row).value()


def cel_python() -> Decide:
    environment = celpy.Environment()
    program = environment.program(environment.compile(EXPRESSION))
    return lambda row: str(program.evaluate({"results": celpy.json_to_cel(row["results"])}))


def json_logic_rust() -> Decide:
    return lambda row: jsonlogic_rs.apply(LOGIC, row)


def json_logic_python() -> Decide:
    return lambda row: jsonLogic(LOGIC, row)


ENGINES = {
    "Zen expression": zen_expression(),
    "Zen decision table": zen_table(),
    "cel-expr-python": cel_expr_python(),
    "cel-python": cel_python(),
    "jsonlogic-rs": json_logic_rust(),
    "panzi-json-logic": json_logic_python(),
}
SLOW = {"cel-python": 100, "Zen decision table": 10}


def check(rows: list[Row]) -> None:
    for name, decide in ENGINES.items():
        for row in rows[:20]:
            score = row["results"]["buro"]["score"]
            expected = "N" if score > 70 else "M" if score > 60 else "MANUAL"
            if decide(row) != expected:
                raise SystemExit(f"{name} decides otherwise than the specification says")


def measured(name: str, rows: list[Row]) -> float:
    decide, taken = ENGINES[name], rows[: len(rows) // SLOW.get(name, 1)]
    start = perf_counter()
    for row in taken:
        decide(row)
    return (perf_counter() - start) / len(taken) * 1e6


def main() -> None:
    rows: list[Row] = []
    for line in sys.stdin:
        question = json.loads(line)
        if "scores" in question:
            rows = [{"results": {"buro": {"score": score}}} for score in question["scores"]]
            check(rows)
            answer: Any = list(ENGINES)
        else:
            answer = measured(question["measure"], rows)
        print(json.dumps(answer), flush=True)


main()
