"""A picture as a Mermaid state diagram."""

from collections.abc import Iterator, Mapping

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.flow.diagram.picture import Picture, Step

_ESCAPED = {ord(character): f"#{ord(character)};" for character in '#;"<>:{}[]`\\'}


def as_mermaid(picture: Picture) -> str:
    """Write the picture; decisions are choices, and every arrow says its event or its outcome."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    names = {state.key: f"s{number}" for number, state in enumerate(picture.states)}
    yield "---"
    yield f"title: {dump_json(picture.title)}"
    yield "---"
    yield "stateDiagram-v2"
    for state in picture.states:
        shown = state.key if state.title is None else f"{state.key}<br/>{state.title.translate(_ESCAPED)}"
        yield f'    state "{shown}" as {names[state.key]}'
    for state in picture.states:
        if state.initial:
            yield f"    [*] --> {names[state.key]}"
    for number, step in enumerate(picture.steps):
        yield from _step(step, f"d{number}", names)
    for state in picture.states:
        if state.terminal:
            yield f"    {names[state.key]} --> [*]"


def _step(step: Step, choice: str, names: Mapping[str, str]) -> Iterator[str]:
    origin = names.get(step.from_state, step.from_state)
    label = "<br/>".join(part.translate(_ESCAPED) for part in (step.event, *step.notes))
    if not step.decides:
        for branch in step.branches:
            to = names.get(branch.to, branch.to)
            yield f"    {origin} --> {to}: {label}<br/>{branch.outcome.translate(_ESCAPED)}"
        return
    yield f"    state {choice} <<choice>>"
    yield f"    {origin} --> {choice}: {label}"
    for branch in step.branches:
        shown = f"{branch.outcome}<br/>{(branch.when or '').translate(_ESCAPED)}"
        yield f"    {choice} --> {names.get(branch.to, branch.to)}: {shown}"
