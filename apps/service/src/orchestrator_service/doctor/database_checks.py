"""What an examination of the database means."""

from collections.abc import Iterator
from typing import Final

from orchestrator_postgres.examination import Examination, QueueAges
from orchestrator_service.doctor.finding import Finding, fault, ok, warn

CLOCK_WARN_SECONDS: Final = 5.0
CLOCK_FAULT_SECONDS: Final = 60.0
TRANSACTION_WARN_SECONDS: Final = 60.0
TRANSACTION_FAULT_SECONDS: Final = 3600.0
DUE_WARN_SECONDS: Final = 60.0
EXPIRED_WARN_SECONDS: Final = 10.0


def database_findings(found: Examination, *, lease_seconds: float) -> Iterator[Finding]:
    """Judge what was found, check by check."""
    yield _server(found)
    yield _schema(found)
    yield from _role(found)
    yield from _guards(found)
    yield clock_finding(found)
    yield _notifications(found)
    yield transaction_finding(found)
    if found.queue is not None:
        yield sweeper_finding(found.queue, lease_seconds=lease_seconds)
        yield waiting_finding(found.queue)


def _server(found: Examination) -> Finding:
    if found.is_standby:
        return fault("database", "The database is a standby.", "Name the primary in DATABASE_URL.")
    return ok("database", "The database answers and takes writes.")


def _schema(found: Examination) -> Finding:
    if found.schema_fault is not None:
        return fault(
            "schema", found.schema_fault, "`orchestrator migrate` as the migration role of this release."
        )
    if found.schema_behind:
        return warn(
            "schema",
            "The schema is one revision behind this version, which serves on it.",
            "`orchestrator migrate` before the next release.",
        )
    return ok("schema", "The schema is at a revision that this version serves on.")


def _role(found: Examination) -> Iterator[Finding]:
    if not found.powers_too_many and not found.powers_missing:
        yield ok("role", "The role may do what the service does, and nothing more.")
        return
    if found.another_role is not None:
        yield fault(
            "role",
            found.another_role,
            "Name the login of the service in DATABASE_URL, which `orchestrator provision` makes a member of"
            " orchestrator_runtime.",
        )
        return
    for sentence in found.powers_too_many:
        yield fault(
            "role", sentence, "Take it back, or repeat `orchestrator provision`; `serve` refuses this role."
        )
    for sentence in found.powers_missing:
        yield fault(
            "role",
            sentence,
            "`orchestrator migrate` grants it to orchestrator_runtime; make the role a member.",
        )


def _guards(found: Examination) -> Iterator[Finding]:
    if not found.guards_off:
        yield ok("guards", "Histories, resolutions and published flows are protected by every trigger.")
    for sentence in found.guards_off:
        yield fault(
            "guards",
            sentence,
            "Switch it on as the tables' owner (ALTER TABLE … ENABLE TRIGGER) or restore it, then `orchestrator audit verify`:"
            " what was recorded may have been changed meanwhile.",
        )


def clock_finding(found: Examination) -> Finding:
    """Judge the difference beyond what the round trip leaves open."""
    apart = max(0.0, abs(found.clock_ahead_seconds) - found.clock_uncertain_seconds)
    told = f"The clocks of this machine and of the database are {apart:.1f} s apart."
    remedy = (
        "Synchronise both (NTP): leases use the database's clock alone, tokens are judged by this machine's."
    )
    if apart > CLOCK_FAULT_SECONDS:
        return fault("clock", told, remedy)
    return warn("clock", told, remedy) if apart > CLOCK_WARN_SECONDS else ok("clock", told)


def _notifications(found: Examination) -> Finding:
    if found.notified:
        return ok("notifications", "A NOTIFY is heard by a LISTEN through DATABASE_URL.")
    return warn(
        "notifications",
        "A NOTIFY isn't heard by a LISTEN through DATABASE_URL, so events wait for a poll.",
        "Name the server, or a pooler in session mode; nothing is lost either way.",
    )


def transaction_finding(found: Examination) -> Finding:
    """Judge the oldest transaction that can be seen; what is hidden is said."""
    hidden = (
        f" ({found.sessions_hidden} sessions of other roles can't be seen)" if found.sessions_hidden else ""
    )
    told = f"The longest transaction has been open for {found.longest_transaction_seconds:.0f} s{hidden}."
    remedy = "Find its session in pg_stat_activity and end it: dead rows stay, and claims slow down, while it is open."
    if found.longest_transaction_seconds > TRANSACTION_FAULT_SECONDS:
        return fault("transactions", told, remedy)
    if found.longest_transaction_seconds > TRANSACTION_WARN_SECONDS:
        return warn("transactions", told, remedy)
    return ok("transactions", told)


def sweeper_finding(queue: QueueAges, *, lease_seconds: float) -> Finding:
    """Judge how long an expired lease has lain there: any claim of any worker would take it up."""
    age = queue.longest_expired_seconds
    if age is None:
        return ok("sweeper", "No lease has run out without being taken over.")
    told = f"The oldest lease that ran out has waited {age:.0f} s to be taken over."
    remedy = "Start a worker, or see why those that run don't claim (their log: worker_disturbed, execution_unreadable)."
    if age > lease_seconds:
        return fault("sweeper", told, remedy)
    return warn("sweeper", told, remedy) if age > EXPIRED_WARN_SECONDS else ok("sweeper", told)


def waiting_finding(queue: QueueAges) -> Finding:
    """Judge how long the oldest due execution has waited for a slot."""
    age = queue.longest_due_seconds or 0.0
    told = f"The execution that has been due longest has waited {age:.0f} s."
    if age > DUE_WARN_SECONDS:
        return warn("queue", told, "Start more workers, or see which integration keeps their slots.")
    return ok("queue", told)
