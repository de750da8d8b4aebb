"""What the port Wakeup promises."""

import asyncio

from orchestrator_domain.testing.contracts.harness import WakeupHarness

PATIENCE_SECONDS = 30.0
LONG_SECONDS = 100 * PATIENCE_SECONDS


class WakeupContract:
    async def test_a_wait_ends_at_a_hint(self, wakeup_harness: WakeupHarness) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            waiting = asyncio.create_task(wakeup_harness.waiting().wait(timeout_seconds=LONG_SECONDS))
            while not waiting.done():
                # A hint may be lost, and one before the wait began need not count: hint until it arrives.
                wakeup_harness.hinting().hint()
                await asyncio.wait([waiting], timeout=0.001)
            await waiting

    async def test_a_wait_ends_after_its_time_without_a_hint(self, wakeup_harness: WakeupHarness) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await wakeup_harness.waiting().wait(timeout_seconds=0.01)

    async def test_a_hint_that_nobody_waits_for_does_no_harm(self, wakeup_harness: WakeupHarness) -> None:
        for _ in range(3):
            wakeup_harness.hinting().hint()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await wakeup_harness.waiting().wait(timeout_seconds=0.01)

    async def test_neither_end_fails_when_the_connection_is_broken(
        self, wakeup_harness: WakeupHarness
    ) -> None:
        waiting = wakeup_harness.waiting()
        await waiting.wait(timeout_seconds=0.01)
        await wakeup_harness.break_connection()
        wakeup_harness.hinting().hint()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await waiting.wait(timeout_seconds=0.01)
