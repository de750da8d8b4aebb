"""A scrape: bounded, kept for a while, and answered whatever the database does."""

import asyncio

from attrs import define
from prometheus_client import Metric as Family
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from orchestrator_domain.ports.observer import Command
from orchestrator_service.metric_table import METRICS, QUEUE_OBSERVED
from orchestrator_service.metrics import BoundedLabel, Metrics
from orchestrator_service.observation import ObservedByMetricsAndLogs
from orchestrator_service.scrape import KEPT_SECONDS, PoolReading, QueueReading, Scrape, WorkerReading

QUEUE = {metric.name for metric in METRICS if metric.scope == "queue"}


@define
class Queue:
    """A queue that is looked at, and fails when it is told to."""

    looks: int = 0
    fault: Exception | None = None

    async def read(self) -> QueueReading:
        self.looks += 1
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        return QueueReading(
            executions={"PENDING": 3, "RECONCILIATION_REQUIRED": 1},
            longest_due_seconds=12.5,
            expired_leases=2,
            oldest_reconciliation_seconds=60.0,
        )


@define
class Seconds:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def scrape_of(queue: Queue, clock: Seconds | None = None, *, works: bool = True) -> Scrape:
    worker = WorkerReading(slots=10, slots_in_use=4, circuits={"bureau": "open", "clients": "closed"})
    return Scrape(
        metrics=Metrics(),
        read_queue=queue.read,
        read_pool=lambda: PoolReading(busy=2, idle=1, waiting=5, connections_max=10),
        read_worker=(lambda: worker) if works else None,
        clock=clock or Seconds(),
    )


async def scraped(scrape: Scrape) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the values of each sample by its labels' values."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in families(await scrape()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def families(exposition: bytes) -> list[Family]:
    return list(text_string_to_metric_families(exposition.decode()))


async def test_a_scrape_tells_how_the_queue_the_pool_and_the_worker_stand() -> None:
    told = await scraped(scrape_of(Queue()))
    assert told["orchestrator_queue_executions"] == {("PENDING",): 3, ("RECONCILIATION_REQUIRED",): 1}
    assert told["orchestrator_queue_longest_due_seconds"] == {(): 12.5}
    assert told["orchestrator_queue_expired_leases"] == {(): 2}
    assert told["orchestrator_queue_oldest_reconciliation_seconds"] == {(): 60}
    assert told["orchestrator_queue_observed"] == {(): 1}
    assert told["orchestrator_pool_connections"] == {("busy",): 2, ("idle",): 1}
    assert (told["orchestrator_pool_waiting"], told["orchestrator_pool_connections_max"]) == (
        {(): 5},
        {(): 10},
    )
    assert (told["orchestrator_worker_slots"], told["orchestrator_worker_slots_in_use"]) == (
        {(): 10},
        {(): 4},
    )
    assert told["orchestrator_circuit_state"] == {
        ("bureau", "closed"): 0,
        ("bureau", "open"): 1,
        ("bureau", "probing"): 0,
        ("clients", "closed"): 1,
        ("clients", "open"): 0,
        ("clients", "probing"): 0,
    }


async def test_a_process_without_a_worker_tells_of_no_slots() -> None:
    told = await scraped(scrape_of(Queue(), works=False))
    assert not {"orchestrator_worker_slots", "orchestrator_worker_slots_in_use"} & told.keys()


async def test_many_who_ask_at_once_cost_one_look_and_the_next_comes_when_it_is_old() -> None:
    queue, clock = Queue(), Seconds()
    scrape = scrape_of(queue, clock)
    await asyncio.gather(*(scrape() for _ in range(5)))
    clock.now += KEPT_SECONDS - 1
    await scrape()
    assert queue.looks == 1
    clock.now += 1
    await scrape()
    assert queue.looks == 2


async def test_a_queue_that_can_not_be_read_costs_its_own_metrics_alone_until_it_can() -> None:
    queue, clock = Queue(), Seconds()
    scrape = scrape_of(queue, clock)
    await scrape()
    queue.fault, clock.now = OSError("Key (email)=(juana@correo.example)"), clock.now + KEPT_SECONDS
    with capture_logs() as lines:
        told = await scraped(scrape)
    assert told["orchestrator_queue_observed"] == {(): 0}
    assert not QUEUE & told.keys()
    assert told["orchestrator_pool_waiting"] == {(): 5}
    assert [(line["event"], line["kind"]) for line in lines] == [("queue_unobserved", "OSError")]
    assert "juana" not in str(lines)

    queue.fault, clock.now = None, clock.now + KEPT_SECONDS
    assert (await scraped(scrape)).keys() >= QUEUE


async def test_what_is_exposed_is_what_the_table_says() -> None:
    scrape = scrape_of(Queue())
    exposed = {family.name: family for family in families(await scrape())}
    for metric in METRICS:
        family = exposed[metric.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (metric.kind, metric.meaning)
    assert len(exposed) == len(METRICS)


def test_a_label_is_bounded_whatever_comes() -> None:
    label = BoundedLabel()
    told = [label.of(f"CODE_{number}") for number in range(1000)]
    assert len(set(told)) == 201
    assert (told[0], told[-1], label.of("CODE_0"), label.of(None)) == (
        "CODE_0",
        "other",
        "CODE_0",
        "other",
    )


def test_commands_and_retries_are_counted_by_what_they_are() -> None:
    observer = ObservedByMetricsAndLogs(Metrics())
    with capture_logs():
        observer.command_refused(command=Command.CREATE_REQUEST, code="SCHEMA_VIOLATION")
        observer.lease_renewal_failed(code="STORAGE_UNAVAILABLE", kind="x", origin="y")
    exposition = observer.metrics.exposition().decode()
    assert (
        'orchestrator_commands_refused_total{code="SCHEMA_VIOLATION",command="create_request"} 1.0'
        in exposition
    )
    assert 'orchestrator_lease_renewal_failures_total{code="STORAGE_UNAVAILABLE"} 1.0' in exposition
    assert QUEUE_OBSERVED.name not in exposition


def test_where_the_values_of_a_label_are_known_they_are_told_before_anything_happens() -> None:
    told = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families(Metrics().exposition())
        for sample in family.samples
    }
    for metric in METRICS:
        for value in metric.known:
            assert told[metric.name, value] == 0
    assert ("orchestrator_worker_disturbances_total", "INTERNAL_ERROR") in told
