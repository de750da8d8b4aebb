"""A picture in the language of Graphviz."""

from collections.abc import Iterator

from orchestrator_domain.flow.diagram.picture import Picture, StateNode, Step


def as_dot(picture: Picture) -> str:
    """Write the picture; boxes with round corners are states, diamonds are decisions."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    yield "digraph flow {"
    yield f"  label={_quoted(picture.title)}; labelloc=t; rankdir=TB; fontname=Helvetica;"
    yield "  node [fontname=Helvetica, fontsize=11]; edge [fontname=Helvetica, fontsize=10];"
    yield "  start [shape=point, width=0.15];"
    for state in picture.states:
        yield from _state(state)
    for number, step in enumerate(picture.steps):
        yield from _step(step, f"step {number}")
    yield "}"


def _state(state: StateNode) -> Iterator[str]:
    label = _quoted(state.key, *([state.title] if state.title else []))
    yield f"  {_named(state.key)} [shape=box, style=rounded, peripheries={1 + state.terminal}, label={label}];"
    if state.initial:
        yield f"  start -> {_named(state.key)};"


def _step(step: Step, name: str) -> Iterator[str]:
    label = _quoted(step.event, *step.notes)
    if not step.decides:
        for branch in step.branches:
            shown = _quoted(step.event, *step.notes, branch.outcome)
            yield f"  {_named(step.from_state)} -> {_named(branch.to)} [label={shown}];"
        return
    yield f'  {_quoted(name)} [shape=diamond, label="", width=0.3, height=0.3];'
    yield f"  {_named(step.from_state)} -> {_quoted(name)} [label={label}];"
    for branch in step.branches:
        shown = _quoted(branch.outcome, branch.when or "")
        yield f"  {_quoted(name)} -> {_named(branch.to)} [label={shown}];"


def _named(state: str) -> str:
    return _quoted(f"state {state}")


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
