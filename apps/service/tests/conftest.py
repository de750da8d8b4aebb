"""What the tests of the service may ask for."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """Logging that is given back as it was, after a command has configured it for its process."""
    root = logging.getLogger()
    handlers, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    yield
    logging.raiseExceptions = raising
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The process's environment, without whatever configures a service outside of this test."""
    for prefix in ("WORKER_", "AUTH_", "FLOW_", "REQUEST_", "DATABASE_", "MANAGEMENT_", "LISTEN_"):
        for name in [name for name in os.environ if name.startswith(prefix)]:
            monkeypatch.delenv(name)
    return monkeypatch
