"""A picture as SVG, laid out by ourselves: no other program is needed to look at a flow.

States stand below those that lead to them. What leads back up is no line across the picture but a stub that names the
state it returns to.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from attrs import define, field, frozen

from orchestrator_domain.flow.diagram.layers import Box, Placed, placed_in_rows
from orchestrator_domain.flow.diagram.picture import Branch, Picture, StateNode, Step

_LINE: Final = 16.0
_CHARACTER: Final = 7.1
_BOLD_CHARACTER: Final = 9.0
_MARGIN: Final = 24.0
_STYLE: Final = """
  text { font: 12px Helvetica, Arial, sans-serif; fill: #1c2733; text-anchor: middle; }
  .head { font-weight: bold; } .title { font-size: 16px; font-weight: bold; }
  .state { fill: #e3eefb; stroke: #2f6db3; stroke-width: 1.5; } .terminal { fill: #e2f3e6; stroke: #2c8a4b; }
  .step { fill: #fff8e1; stroke: #b8860b; } .outcome { fill: #ffffff; stroke: #9aa5b1; }
  .back { fill: #f3f4f6; stroke: #9aa5b1; stroke-dasharray: 4 3; }
  .way { fill: none; stroke: #5b6874; stroke-width: 1.2; }
"""


@frozen(kw_only=True)
class _Shape:
    """A box with its lines, the first one bold; `kind` is its class in the style."""

    kind: str
    lines: tuple[str, ...]
    round: float

    @property
    def box(self) -> Box:
        head, *others = self.lines
        widest = max(len(head) * _BOLD_CHARACTER, *(len(line) * _CHARACTER for line in others), 0.0)
        return Box(width=widest + 24, height=len(self.lines) * _LINE + 14)


def as_svg(picture: Picture) -> str:
    """Draw the picture."""
    drawing = _Drawing()
    drawing.add(picture)
    placed = placed_in_rows([shape.box for shape in drawing.shapes], drawing.edges)
    return "\n".join(_svg(picture.title, drawing, placed)) + "\n"


@define(kw_only=True)
class _Drawing:
    shapes: list[_Shape] = field(factory=list)
    edges: list[tuple[int, int]] = field(factory=list)

    def add(self, picture: Picture) -> None:
        ranks = _ranks(picture)
        states = {state.key: self._shape(_state_shape(state)) for state in picture.states}
        for step in picture.steps:
            if step.from_state in states:
                self._step(step, states, ranks)

    def _step(self, step: Step, states: dict[str, int], ranks: dict[str, int]) -> None:
        lines = (step.event, *step.notes)
        if not step.decides:
            lines = (*lines, *(f"outcome {branch.outcome}" for branch in step.branches))
        number = self._shape(_Shape(kind="step", lines=lines, round=2))
        self.edges.append((states[step.from_state], number))
        for branch in step.branches:
            leads_on = branch.to in states and ranks[branch.to] > ranks[step.from_state]
            self._branch(step, branch, number, states[branch.to] if leads_on else None)

    def _branch(self, step: Step, branch: Branch, number: int, state: int | None) -> None:
        if step.decides:
            outcome = self._shape(_Shape(kind="outcome", lines=(branch.outcome, branch.when or ""), round=12))
            self.edges.append((number, outcome))
            number = outcome
        if state is None:
            state = self._shape(_Shape(kind="back", lines=(f"↩ {branch.to}",), round=8))
        self.edges.append((number, state))

    def _shape(self, shape: _Shape) -> int:
        self.shapes.append(shape)
        return len(self.shapes) - 1


def _state_shape(state: StateNode) -> _Shape:
    lines = (state.key,) if state.title is None else (state.key, state.title)
    return _Shape(kind="state terminal" if state.terminal else "state", lines=lines, round=10)


def _ranks(picture: Picture) -> dict[str, int]:
    """Return a number for each state, so that ways lead from low to high but for those that return.

    The number is the reverse of the order in which a walk depth first leaves the states.
    """
    onward: dict[str, list[str]] = {state.key: [] for state in picture.states}
    for step in picture.steps:
        onward.setdefault(step.from_state, []).extend(branch.to for branch in step.branches)
    left: list[str] = []
    seen: set[str] = set()
    for start in sorted(picture.states, key=lambda state: not state.initial):
        walk = [(start.key, iter(onward[start.key]))] if start.key not in seen else []
        seen.add(start.key)
        while walk:
            key, ways = walk[-1]
            to = next((each for each in ways if each in onward and each not in seen), None)
            if to is None:
                left.append(key)
                walk.pop()
            else:
                seen.add(to)
                walk.append((to, iter(onward[to])))
    return {key: rank for rank, key in enumerate(reversed(left))}


def _svg(title: str, drawing: _Drawing, placed: Placed) -> Iterator[str]:
    heading = 40.0
    width = max(placed.width, len(title) * 9.5) + 2 * _MARGIN
    height = placed.height + heading + 2 * _MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}">'
    )
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#5b6874"/></marker></defs>'
    )
    yield '<rect width="100%" height="100%" fill="#ffffff"/>'
    yield f'<text class="title" x="{width / 2:.1f}" y="{_MARGIN + 8:.1f}">{escape(title)}</text>'
    shift = (width - placed.width) / 2
    yield f'<g transform="translate({shift:.1f},{_MARGIN + heading:.1f})">'
    for start, end in dict.fromkeys(drawing.edges):
        yield _way(drawing, placed, start, end)
    for shape, (x, y) in zip(drawing.shapes, placed.centres, strict=True):
        yield from _drawn(shape, x, y)
    yield "</g></svg>"


def _way(drawing: _Drawing, placed: Placed, start: int, end: int) -> str:
    x, y = placed.centres[start]
    to_x, to_y = placed.centres[end]
    y += drawing.shapes[start].box.height / 2
    to_y -= drawing.shapes[end].box.height / 2
    path = f"M{x:.1f},{y:.1f}"
    for next_x, next_y in (*placed.bends[start, end], (to_x, to_y)):
        middle = (y + next_y) / 2
        path += f" C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{next_y:.1f}"
        x, y = next_x, next_y
    return f'<path class="way" marker-end="url(#tip)" d="{path}"/>'


def _drawn(shape: _Shape, x: float, y: float) -> Iterator[str]:
    box = shape.box
    yield (
        f'<rect class="{shape.kind}" x="{x - box.width / 2:.1f}" y="{y - box.height / 2:.1f}" '
        f'width="{box.width:.1f}" height="{box.height:.1f}" rx="{shape.round:g}"/>'
    )
    top = y - (len(shape.lines) - 1) * _LINE / 2 + 4
    for index, line in enumerate(shape.lines):
        bold = ' class="head"' if index == 0 else ""
        yield f'<text{bold} x="{x:.1f}" y="{top + index * _LINE:.1f}">{escape(line)}</text>'
