"""The pictures: the example flows, and the statuses of an execution from the code's own table of legal moves."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.execution.execution import LEGAL_MOVES, ExecutionStatus
from orchestrator_domain.flow.diagram import Picture, as_svg, picture_of
from orchestrator_domain.flow.diagram.picture import Branch, StateNode, Step
from orchestrator_domain.flow.document import read_flow

_PENDING, _RUNNING, _WAITING = ExecutionStatus.PENDING, ExecutionStatus.RUNNING, ExecutionStatus.RETRY_WAIT
_DONE, _FAILED, _STOPPED = (
    ExecutionStatus.SUCCEEDED,
    ExecutionStatus.FAILED,
    ExecutionStatus.RECONCILIATION_REQUIRED,
)
_HAPPENS: Final = {
    _PENDING: "a worker claims it",
    _RUNNING: "it is run",
    _WAITING: "its time has come",
    _STOPPED: "an operator settles it",
}
# What each legal move is, and when it is made. A move without words, or words without a move, is a KeyError.
_WORDS: Final = {
    (_PENDING, _RUNNING): ("claimed", "under a lease and a new token"),
    (_RUNNING, _RUNNING): ("recovered", "its lease had run out"),
    (_RUNNING, _WAITING): ("tried again", "safe to repeat, attempts are left"),
    (_RUNNING, _DONE): ("completed", "state, data and history in one commit"),
    (_RUNNING, _FAILED): ("failed", "no effect is left outside"),
    (_RUNNING, _STOPPED): ("stopped", "an effect may have happened"),
    (_WAITING, _RUNNING): ("claimed again", "under a lease and a new token"),
    (_STOPPED, _PENDING): ("resumed", "effect or its absence verified"),
    (_STOPPED, _FAILED): ("closed", "absence or compensation verified"),
}


def pictures(flows: Path) -> Mapping[str, str]:
    """Return every picture as SVG, by its name."""
    drawn = {
        file.stem: as_svg(picture_of(read_flow(parse_json(file.read_bytes()))))
        for file in sorted(flows.glob("*.json"))
    }
    return {"execution": as_svg(_execution()), **drawn}


def _execution() -> Picture:
    words = dict(_WORDS)
    steps = tuple(
        Step(
            id=status,
            from_state=status,
            event=_HAPPENS[status],
            notes=(),
            branches=tuple(_branch(to, words.pop((status, to))) for to in ExecutionStatus if to in moves),
        )
        for status, moves in LEGAL_MOVES.items()
        if moves
    )
    if words:
        raise KeyError(*words)
    return Picture(title="An execution", states=tuple(map(_state, ExecutionStatus)), steps=steps)


def _branch(to: ExecutionStatus, words: tuple[str, str]) -> Branch:
    outcome, when = words
    return Branch(outcome=outcome, when=when, to=to)


def _state(status: ExecutionStatus) -> StateNode:
    return StateNode(key=status, title=None, initial=status is _PENDING, terminal=not LEGAL_MOVES[status])
