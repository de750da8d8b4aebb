"""Run cases against a flow without calling anything: the results of its actions are supplied by each case.

The command `orchestrator flow simulate deposits.json --cases cases.jsonl` does the same, and reads CSV and Parquet too. Below a
threshold is moved over many rows of one decision.
"""

from decimal import Decimal
from pathlib import Path

from orchestrator_domain import (
    CompiledDecisionEvaluator,
    DecisionMade,
    FlowLimits,
    ReadyFlow,
    evaluate_many,
    parse_json,
    read_flow,
)
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import ActionKey, DecisionKey, TransitionKey
from orchestrator_domain.simulation.case import CaseRunner
from orchestrator_domain.simulation.case_reading import read_case
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT

HERE = Path(__file__).parent


def main() -> None:
    """Print what came of each case, then how many of a thousand rows each output takes."""
    flow = ReadyFlow(definition=read_flow(parse_json((HERE / "deposits.json").read_bytes())))
    runner = CaseRunner(
        flow=flow,
        contracts={(TransitionKey("borrow"), ActionKey("lookup")): NO_OP_CONTRACT},
        evaluate=CompiledDecisionEvaluator().evaluate,
        limits=FlowLimits(),
    )
    for line in (HERE / "cases.jsonl").read_bytes().splitlines():
        case = read_case(parse_json(line))
        last = runner.answers(case)[-1]
        told = "as expected" if not last.differences else "; ".join(last.differences)
        print(f"{case.id}: {last.outcome or last.error}, {last.state}, {told}")

    decision = flow.definition.decision(DecisionKey("DEPOSIT"))
    assert decision is not None, "the flow has it"
    counts = dict.fromkeys(sorted(decision.outputs), 0)
    for result in evaluate_many(decision, map(_row, range(1000))):
        assert isinstance(result, DecisionMade)
        counts[result.output] += 1
    print(counts)


def _row(number: int) -> JsonObject:
    late = Decimal(number % 10).scaleb(-1)
    return {"event": {"data": {"value": number}}, "results": {"borrower": {"late": late}}}


if __name__ == "__main__":
    main()
