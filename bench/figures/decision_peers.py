"""The scoring decision at run time, beside the fastest of the engines that are called from Python.

All of them were prepared before: what is measured is one call of what was made of the decision.
"""

from functools import partial

from bench.figure import Figure, Measured, TimesFasterAtLeast
from bench.peers import PeerProcess
from bench.sample import alternately, microseconds_per
from bench.scoring import scoring_decision, scoring_rows
from orchestrator_domain.decision.generated import generate_single

_ROWS = 5_000


def _measure() -> Measured:
    decide, rows = generate_single(scoring_decision()), scoring_rows(_ROWS)

    def ours() -> float:
        return microseconds_per(_ROWS, lambda: [decide(row) for row in rows])

    with PeerProcess("decision_engines.py") as process:
        # Engines take no exact numbers, so theirs are floats.
        scores = [float(row["results"]["buro"]["score"]) for row in rows]
        engines = process.ask({"scores": scores})
        subjects = {name: partial(process.ask, {"measure": name}) for name in engines}
        samples = alternately({"ours": ours, **subjects})
    value = samples.pop("ours")
    fastest = min(samples, key=lambda name: samples[name].median)
    return Measured(value=value, baseline=samples[fastest], baseline_name=fastest)


FIGURES = (Figure(name="decision-fastest-peer", unit="µs", target=TimesFasterAtLeast(5), measure=_measure),)
