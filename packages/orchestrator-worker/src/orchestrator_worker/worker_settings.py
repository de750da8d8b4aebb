"""How one worker process works, checked as a whole (worker document, defaults)."""

from attrs import field, frozen, validators

from orchestrator_domain.identifiers import LeaseOwner


@frozen(kw_only=True)
class WorkerSettings:
    """Set slots, batch, polling and leases. Raises ValueError for what can't work.

    `owner` names this start of this process and no other. `batch_max` bounds one claim, `concurrency` all runs at
    once. `gather_seconds` is how long a claim waits for more slots while some are just being freed. `cancel_seconds` is
    how long a cancelled run may take to let go.
    """

    owner: LeaseOwner = field(validator=validators.min_len(1))
    concurrency: int = field(default=10, validator=[validators.ge(1), validators.le(1000)])
    batch_max: int = field(default=10, validator=[validators.ge(1), validators.le(1000)])
    poll_ms: int = field(default=500, validator=[validators.ge(10), validators.le(60_000)])
    lease_seconds: float = field(default=60.0, validator=[validators.gt(0), validators.le(3600)])
    renew_seconds: float = field(default=15.0, validator=validators.gt(0))
    gather_seconds: float = field(default=0.005, validator=[validators.ge(0), validators.le(1)])
    drain_seconds: float = field(default=20.0, validator=validators.ge(0))
    cancel_seconds: float = field(default=5.0, validator=validators.ge(0))

    def __attrs_post_init__(self) -> None:
        if self.renew_seconds >= self.lease_seconds / 2:
            raise ValueError("renew_seconds has to be less than half of lease_seconds.")

    @property
    def poll_seconds(self) -> float:
        return self.poll_ms / 1000


def unique_owner(*, host: str, process_id: int, salt: str) -> LeaseOwner:
    """Name the owner of leases; a `salt` that nobody had before keeps two starts apart (protocol, Claims)."""
    return LeaseOwner(f"{host[:100]}:{process_id}:{salt}")
