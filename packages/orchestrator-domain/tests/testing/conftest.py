"""The in-memory store, fresh for each test."""

import pytest

from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness


@pytest.fixture
def harness() -> InMemoryHarness:
    return InMemoryHarness()
