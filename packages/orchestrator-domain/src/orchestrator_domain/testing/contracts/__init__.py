"""The suites that every implementation of a port must pass.

An implementation's test module gives a pytest fixture `harness` (a fresh, empty store for each test) and inherits the
suites. They are asynchronous: run them with pytest-asyncio in auto mode.
"""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.{suite}"
        for suite in (
            "change_marks_contract",
            "claiming_contract",
            "completing_contract",
            "event_judgement_contract",
            "execution_queue_contract",
            "fencing_contract",
            "flow_store_contract",
            "history_contract",
            "parking_contract",
            "published_flows_contract",
            "queue_machine",
            "recent_past_contract",
            "reconciliation_store_contract",
            "renewing_contract",
            "request_store_contract",
            "request_type_store_contract",
            "unit_of_work_contract",
            "wakeup_contract",
        )
    )
)
