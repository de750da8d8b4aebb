"""The page of metrics, from the table that they are made of."""

from tools.reference.wording import code, page, table

from orchestrator_service.metric_table import METRICS, Metric

_HEAD = """\
`GET /metrics` on the management port tells them in Prometheus' text format. Labels are keys of the catalogue, codes,
statuses and templates of paths, never ids. Of keys and codes that come from flows and catalogues, 200 are told apart,
and what comes later is counted as `other`; an integration or an error that is none is `none`.

Metrics of a *process* are added up over processes. Metrics of the *queue* describe the whole database: every process
tells the same, so take their maximum. They are read at most once in ten seconds by one statement that never reads an
ended execution and is cut after a second; while it can't be read they are absent, and `orchestrator_queue_observed` is 0.
How many executions ended, and how, is counted by `orchestrator_executions_ended_total`."""


def metrics_page() -> str:
    """Return the page with every metric."""
    return page("Metrics", _HEAD, table(("name", "kind", "labels", "of", "meaning"), map(_row, METRICS)))


def _row(metric: Metric) -> tuple[str, ...]:
    return code(metric.name), metric.kind, ", ".join(map(code, metric.labels)), metric.scope, metric.meaning
