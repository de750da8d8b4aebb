"""A figure: what is measured, beside what, and which ratio is aimed at."""

from collections.abc import Callable
from typing import assert_never

from attrs import frozen

from bench.sample import Sample


@frozen(kw_only=True)
class Measured:
    """Our sample, and the baseline's; a figure without baseline is an absolute one."""

    value: Sample
    baseline: Sample | None = None
    baseline_name: str | None = None


@frozen
class RatioAtMost:
    """Ours over the baseline's."""

    bound: float


@frozen
class RatioAtLeast:
    """Ours over the baseline's."""

    bound: float


@frozen
class TimesFasterAtLeast:
    """The baseline's time over ours."""

    bound: float


@frozen
class ValueAtMost:
    """Ours alone, in the figure's unit."""

    bound: float


@frozen
class NoTarget:
    """Reported for what it tells; nothing is aimed at."""


type Target = RatioAtMost | RatioAtLeast | TimesFasterAtLeast | ValueAtMost | NoTarget


@frozen(kw_only=True)
class Outcome:
    """A figure that was measured; `met` is None for one without a target."""

    figure: "Figure"
    measured: Measured
    ratio: float | None
    met: bool | None


@frozen(kw_only=True)
class Figure:
    """One figure; to add one, put it into the FIGURES of a module in `bench/figures`."""

    name: str
    unit: str
    target: Target
    measure: Callable[[], Measured]

    def outcome(self) -> Outcome:
        measured = self.measure()
        value = measured.value.median
        baseline = None if measured.baseline is None else measured.baseline.median
        ratio = None if baseline is None else self._ratio(value, baseline)
        return Outcome(figure=self, measured=measured, ratio=ratio, met=self._is_met(value, ratio))

    def target_text(self) -> str:
        match self.target:
            case NoTarget():
                return "—"
            case RatioAtMost(bound=bound):
                return f"≤ {bound:g}"
            case RatioAtLeast(bound=bound) | TimesFasterAtLeast(bound=bound):
                return f"≥ {bound:g}"
            case ValueAtMost(bound=bound):
                return f"≤ {bound:g} {self.unit}"
            case _ as unreachable:
                assert_never(unreachable)

    def _ratio(self, value: float, baseline: float) -> float:
        return baseline / value if isinstance(self.target, TimesFasterAtLeast) else value / baseline

    def _is_met(self, value: float, ratio: float | None) -> bool | None:
        match self.target:
            case NoTarget():
                return None
            case RatioAtMost(bound=bound):
                return ratio is not None and ratio <= bound
            case RatioAtLeast(bound=bound) | TimesFasterAtLeast(bound=bound):
                return ratio is not None and ratio >= bound
            case ValueAtMost(bound=bound):
                return value <= bound
            case _ as unreachable:
                assert_never(unreachable)
