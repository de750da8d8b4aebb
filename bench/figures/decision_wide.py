"""Decisions of many rules: at run time beside the naive walk, and analysed beside reading and validating their flow."""

from decimal import Decimal
from functools import partial
from random import Random

from bench.figure import Figure, Measured, RatioAtMost, TimesFasterAtLeast
from bench.sample import alternately, milliseconds, processor_microseconds_per
from bench.wide_decisions import decision_with, flow_with, rules_in_a_row, rules_on_a_grid
from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.regions import analyse
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.simulation.bulk import evaluate_many
from orchestrator_domain.testing.naive_decisions import decide

_ROWS = 300


def _run_time() -> Measured:
    definition = decision_with(rules_in_a_row(66))
    compiled, drawn = compile_decision(definition), Random(66)
    rows: list[EvaluationContext] = [
        {"event": {"data": {"a": Decimal(drawn.randint(0, 6_700)).scaleb(-1)}}} for _ in range(_ROWS)
    ]
    samples = alternately(
        {
            "closures": lambda: processor_microseconds_per(_ROWS, lambda: [compiled(row) for row in rows]),
            "generated": lambda: processor_microseconds_per(
                _ROWS, lambda: list(evaluate_many(definition, rows))
            ),
            "naive": lambda: processor_microseconds_per(
                _ROWS, lambda: [decide(definition, row) for row in rows]
            ),
        }
    )
    return Measured(value=samples["closures"], baseline=samples["naive"], baseline_name="naive tree walk")


def _analysis() -> Measured:
    document = flow_with(rules_on_a_grid(5, 5, 4))
    definition = read_flow(document).decisions[0]
    without = FlowSoundness(resolve_contract=lambda _action: (), analysis_steps_max=0)

    def read_and_validate() -> None:
        read_flow(document)
        without.validate(document)

    samples = alternately(
        {
            "analysis": partial(milliseconds, lambda: analyse(definition)),
            "the rest": partial(milliseconds, read_and_validate),
        }
    )
    return Measured(
        value=samples["analysis"],
        baseline=samples["the rest"],
        baseline_name="reading and validating without",
    )


FIGURES = (
    Figure(name="decision-66-rules", unit="µs", target=TimesFasterAtLeast(4), measure=_run_time),
    Figure(name="analysis-100-rules", unit="ms", target=RatioAtMost(10), measure=_analysis),
)
