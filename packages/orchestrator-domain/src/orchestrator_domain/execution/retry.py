"""When to try again: durable arithmetic, without a clock. All times in seconds."""

from orchestrator_domain.flow.contract import ProbeContract, RetryContract

_DOUBLINGS_MAX = 32
"""More doublings than this exceed every allowed maximum; the bound keeps the arithmetic cheap at any attempt."""


def retry_delay(
    contract: RetryContract, *, attempts: int, fraction: float, retry_after_seconds: float | None = None
) -> float:
    """Return how long to wait after `attempts` attempts (1 or more).

    `fraction` in [0, 1) spreads the wait over ±25 % so that retries don't march in step. A provider's Retry-After is
    honoured when it is longer, up to the contract's bound.
    """
    doublings = min(max(attempts - 1, 0), _DOUBLINGS_MAX)
    backoff = min(contract.backoff_seconds * 2.0**doublings, contract.backoff_max_seconds)
    jittered = backoff * (0.75 + fraction / 2)
    if retry_after_seconds is None:
        return jittered
    return max(jittered, min(retry_after_seconds, contract.retry_after_max_seconds))


def parked_delay(
    contract: RetryContract, *, seconds: float, first_start_age_seconds: float, fraction: float
) -> float:
    """Return how long to wait for what isn't worth trying before `seconds` have passed.

    It is a second at least, no shorter than a tenth of the time since the action's first start, so that what is parked
    for long leaves a short history, and no longer than the contract parks. `fraction` in [0, 1) adds up to a quarter,
    so that what was parked together doesn't come back together.
    """
    wanted = max(1.0, seconds, first_start_age_seconds / 10)
    return min(wanted, max(1.0, contract.parked_seconds_max)) * (1.0 + fraction / 4)


def probe_delay(
    contract: ProbeContract,
    *,
    doubt_age_seconds: float,
    fraction: float,
    retry_after_seconds: float | None = None,
) -> float | None:
    """Return how long to wait before asking again about an effect in doubt, None when it has been asked long enough.

    The wait is no shorter than the doubt is old, so that even a day of asking takes fewer questions than an execution
    may be claimed without progress. `fraction` in [0, 1) adds up to a quarter, so that what fell into doubt together
    doesn't ask together.
    """
    wanted = max(contract.backoff_seconds, doubt_age_seconds, retry_after_seconds or 0.0)
    delay = wanted * (1.0 + fraction / 4)
    return delay if doubt_age_seconds + delay <= contract.ask_for_seconds else None


def attempts_left(contract: RetryContract, attempts: int) -> bool:
    return attempts < contract.attempts_max
