"""The scoring decision at run time and in bulk, beside a hand-written `if` over Decimals."""

from bench.figure import Figure, Measured, RatioAtMost
from bench.sample import alternately, processor_microseconds_per
from bench.scoring import decided_by_hand, scoring_decision, scoring_rows
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.simulation.bulk import evaluate_many

_ROWS = 20_000


def _run_time() -> Measured:
    definition, rows, evaluate = scoring_decision(), scoring_rows(_ROWS), CompiledDecisionEvaluator().evaluate
    samples = alternately(
        {
            "ours": lambda: processor_microseconds_per(
                _ROWS, lambda: [evaluate(definition, row) for row in rows]
            ),
            "by hand": lambda: processor_microseconds_per(
                _ROWS, lambda: [decided_by_hand(row) for row in rows]
            ),
        }
    )
    return Measured(value=samples["ours"], baseline=samples["by hand"], baseline_name="hand-written")


def _bulk() -> Measured:
    definition, rows = scoring_decision(), scoring_rows(_ROWS)
    samples = alternately(
        {
            "ours": lambda: processor_microseconds_per(_ROWS, lambda: list(evaluate_many(definition, rows))),
            "by hand": lambda: processor_microseconds_per(
                _ROWS, lambda: [decided_by_hand(row) for row in rows]
            ),
        }
    )
    return Measured(value=samples["ours"], baseline=samples["by hand"], baseline_name="hand-written")


FIGURES = (
    Figure(name="decision-run-time", unit="µs", target=RatioAtMost(6), measure=_run_time),
    Figure(name="decision-bulk-mappings", unit="µs", target=RatioAtMost(2), measure=_bulk),
)
