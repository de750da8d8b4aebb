"""Do work again after a transient fault, a bounded number of times."""

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from orchestrator_postgres.fault_translation import TransientFault, translated_faults, unavailable

ATTEMPTS_MAX = 5
_WAIT_SECONDS = wait_random_exponential(multiplier=0.02, max=1.0)


async def retried[Result](
    work: Callable[[int], Awaitable[Result]], *, attempts_max: int = ATTEMPTS_MAX
) -> Result:
    """Return what `work` returns; it is given the number of its attempt, from 1.

    Conflicts and broken connections are tried again with a growing, jittered wait, nothing else is. Raises
    StorageUnavailable after the last attempt; what became of it is unknown then.
    """
    try:
        # Nearly always the only attempt; what tenacity keeps of one costs as much time as a statement.
        return await _tried(work, 1)
    except TransientFault as fault:
        first = fault
    attempts = AsyncRetrying(
        stop=stop_after_attempt(attempts_max),
        wait=_WAIT_SECONDS,
        retry=retry_if_exception_type(TransientFault),
        reraise=True,
    )
    try:
        async for attempt in attempts:
            with attempt:
                if attempt.retry_state.attempt_number == 1:
                    raise first
                return await _tried(work, attempt.retry_state.attempt_number)
    except TransientFault:
        raise unavailable() from None
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _tried[Result](work: Callable[[int], Awaitable[Result]], number: int) -> Result:
    with translated_faults():
        return await work(number)
