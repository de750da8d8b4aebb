"""The statuses of an execution and their one table of legal moves."""

import pytest

from orchestrator_domain.execution.execution import LEGAL_MOVES, ExecutionStatus


@pytest.mark.parametrize("status", ExecutionStatus)
def test_exactly_the_statuses_that_block_a_request_have_moves_left(status: ExecutionStatus) -> None:
    assert status.active is bool(LEGAL_MOVES[status])


def test_every_status_can_be_reached_from_acceptance_and_every_active_one_can_end() -> None:
    assert _reachable(ExecutionStatus.PENDING) == set(ExecutionStatus)
    for status in ExecutionStatus:
        assert not status.active or _reachable(status) & {ExecutionStatus.SUCCEEDED, ExecutionStatus.FAILED}


def test_only_a_running_execution_succeeds() -> None:
    sources = {status for status, moves in LEGAL_MOVES.items() if ExecutionStatus.SUCCEEDED in moves}
    assert sources == {ExecutionStatus.RUNNING}


def _reachable(start: ExecutionStatus) -> set[ExecutionStatus]:
    found, pending = {start}, [start]
    while pending:
        for move in LEGAL_MOVES[pending.pop()] - found:
            found.add(move)
            pending.append(move)
    return found
