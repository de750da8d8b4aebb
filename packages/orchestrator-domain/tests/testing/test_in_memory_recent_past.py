"""The suite of RecentPast, in memory."""

from orchestrator_domain.testing.contracts.recent_past_contract import RecentPastContract


class TestInMemoryRecentPast(RecentPastContract):
    pass
