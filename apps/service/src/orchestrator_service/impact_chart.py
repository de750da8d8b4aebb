"""A picture of what a candidate version would change: outcomes before and after, and shares over a threshold."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final
from xml.sax.saxutils import escape

from attrs import frozen

_WIDTH: Final = 640
_LEFT: Final = 200
_BAR: Final = 14
_PLOT_HEIGHT: Final = 200
_LINE: Final = 18
_NAME_MAX: Final = 22
_BEFORE, _AFTER = "#8a94a6", "#1f6feb"
_COLOURS: Final = ("#1f6feb", "#d9480f", "#2b8a3e", "#862e9c", "#e8a100", "#0b7285", "#c2255c", "#495057")


@frozen(kw_only=True)
class ShareCurve:
    """Counts of each outcome at each value of a threshold, values in ascending order."""

    title: str
    points: Sequence[tuple[int | Decimal, Mapping[str, int]]]


def impact_svg(before: Mapping[str, int], after: Mapping[str, int], curve: ShareCurve | None) -> str:
    """Draw both outcomes' counts as bars and, if there is one, the curve below them."""
    names = sorted({*before, *after})
    most = max([*before.values(), *after.values(), 1])
    bars = [
        _bars(number, name, before.get(name, 0), after.get(name, 0), most)
        for number, name in enumerate(names)
    ]
    height = 50 + len(names) * 3 * _BAR
    beside = 0 if curve is None else 30 + len(_outcomes(curve)) * _LINE
    legend = (
        _text(10, 20, "Outcomes of recorded events", bold=True)
        + _text(_LEFT, 38, "before", colour=_BEFORE)
        + _text(_LEFT + 60, 38, "with the candidate", colour=_AFTER)
    )
    plot = "" if curve is None else _plot(curve, height + 20)
    total = height + (0 if curve is None else 20 + max(_PLOT_HEIGHT + 90, beside))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total}" width="{_WIDTH}" height="{total}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="{_WIDTH}" height="{total}" fill="white"/>{legend}{"".join(bars)}{plot}</svg>\n'
    )


def _bars(number: int, name: str, before: int, after: int, most: int) -> str:
    top = 50 + number * 3 * _BAR
    return (
        _text(10, top + _BAR + 4, _short(name))
        + _bar(top, before, most, _BEFORE)
        + _bar(top + _BAR, after, most, _AFTER)
    )


def _bar(top: int, count: int, most: int, colour: str) -> str:
    width = round((_WIDTH - _LEFT - 80) * count / most, 1)
    return f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_BAR - 2}" fill="{colour}"/>' + _text(
        _LEFT + width + 6, top + _BAR - 3, str(count)
    )


def _plot(curve: ShareCurve, top: int) -> str:
    names = _outcomes(curve)
    low, high = curve.points[0][0], curve.points[-1][0]
    floor = top + 20 + _PLOT_HEIGHT
    drawn = [_text(10, top, curve.title, bold=True)]
    drawn += [_text(_LEFT - 40, top + 24, "100 %"), _text(_LEFT - 25, floor, "0 %")]
    drawn.append(
        f'<rect x="{_LEFT}" y="{top + 20}" width="400" height="{_PLOT_HEIGHT}" fill="none" stroke="#ced4da"/>'
    )
    drawn += [_text(_LEFT, floor + 18, str(low)), _text(_LEFT + 380, floor + 18, str(high))]
    for number, name in enumerate(names):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [
            (
                f"{_LEFT + _share(value - low, high - low) * 400:.1f}",
                f"{floor - _share(counts.get(name, 0), sum(counts.values())) * _PLOT_HEIGHT:.1f}",
            )
            for value, counts in curve.points
        ]
        line = " ".join(f"{x},{y}" for x, y in points)
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        # A value that was tried is a dot, also where it is the only one.
        drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
        drawn.append(_text(10, top + 30 + number * _LINE, _short(name), colour=colour))
    return "".join(drawn)


def _outcomes(curve: ShareCurve) -> list[str]:
    return sorted({name for _, counts in curve.points for name in counts})


def _short(name: str) -> str:
    """Cut a name that would run into what is drawn beside it."""
    return name if len(name) <= _NAME_MAX else f"{name[: _NAME_MAX - 1]}…"


def _share(part: int | Decimal, whole: int | Decimal) -> float:
    return float(part) / float(whole) if whole else 0.0


def _text(x: float, y: float, text: str, *, colour: str = "#212529", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{colour}"{weight}>{escape(text)}</text>'
