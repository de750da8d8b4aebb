"""The in-memory store is a product: a host embeds it without test libraries and without an event loop."""

import subprocess
import sys

PROGRAM = """
import sys
for missing in ("asyncio", "pytest", "_pytest", "hypothesis"):
    sys.modules[missing] = None
import orchestrator_domain.testing.fixed_catalogue
import orchestrator_domain.testing.in_memory.execution_queue
import orchestrator_domain.testing.in_memory.published_flows
import orchestrator_domain.testing.in_memory.unit_of_work
import orchestrator_domain.testing.in_memory.wakeup
import orchestrator_domain.testing.sequential_identifiers
"""


def test_the_in_memory_store_needs_neither_test_libraries_nor_an_event_loop() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
