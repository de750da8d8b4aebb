"""Measure the domain's coverage by the tests that name their cases.

Tracing costs as much as what it traces, and what draws a hundred cases runs through the same lines a hundred times. A
line that only a drawn case reaches counts as not covered, which is the stricter of the two readings.
"""

import pytest


@pytest.hookimpl(trylast=True)  # it is hypothesis that marks what draws its cases
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave whatever draws its cases out of the measurement; it runs as it is."""
    for item in items:
        if item.get_closest_marker("hypothesis") is not None:
            item.add_marker("no_cover")
