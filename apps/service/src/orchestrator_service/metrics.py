"""What a process tells Prometheus, kept as the table of metrics defines it."""

from collections.abc import Callable
from typing import Final

from attrs import define, field
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from orchestrator_service.metric_table import METRICS, Metric

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_VALUES_MAX: Final = 200
_OTHER: Final = "other"


@define
class Metrics:
    """The metrics of one process, in a registry of their own; those of what the process doesn't have stay empty."""

    registry: CollectorRegistry = field(factory=CollectorRegistry)
    _counters: dict[str, Counter] = field(factory=dict, init=False)
    _gauges: dict[str, Gauge] = field(factory=dict, init=False)
    _histograms: dict[str, Histogram] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        # Each counter would else be told a second time, with the moment of its first use.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        for metric in METRICS:
            if metric.kind == "counter":
                counter = self._counters[metric.name] = _made(Counter, metric, self.registry)
                for value in metric.known:
                    counter.labels(value)
            elif metric.kind == "histogram":
                self._histograms[metric.name] = Histogram(
                    metric.name, metric.meaning, metric.labels, registry=self.registry, buckets=_BUCKETS
                )
            elif metric.labels:
                self._gauges[metric.name] = _made(Gauge, metric, self.registry)

    def counter(self, metric: Metric) -> Counter:
        return self._counters[metric.name]

    def histogram(self, metric: Metric) -> Histogram:
        return self._histograms[metric.name]

    def gauge(self, metric: Metric) -> Gauge:
        """Return a gauge; one without labels exists from its first use on, so that nobody reads a 0 that isn't known."""
        if metric.name not in self._gauges:
            self._gauges[metric.name] = _made(Gauge, metric, self.registry)
        return self._gauges[metric.name]

    def forget(self, metric: Metric) -> None:
        """Tell nothing of a gauge until it is used again."""
        gauge = self._gauges.get(metric.name)
        if gauge is None:
            return
        if metric.labels:
            gauge.clear()
        else:
            self.registry.unregister(self._gauges.pop(metric.name))

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)


@define
class BoundedLabel:
    """Take the first values for a label as they are, and all later ones as `other`."""

    _known: set[str] = field(factory=set, init=False)

    def of(self, value: str | None) -> str:
        told = value or "none"
        if told in self._known:
            return told
        if len(self._known) >= _VALUES_MAX:
            return _OTHER
        self._known.add(told)
        return told


def _made[Made: (Counter, Gauge)](
    kind: Callable[..., Made], metric: Metric, registry: CollectorRegistry
) -> Made:
    return kind(metric.name, metric.meaning, metric.labels, registry=registry)
