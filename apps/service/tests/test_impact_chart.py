"""The picture of an impact shows what was counted, to scale."""

from collections import Counter
from decimal import Decimal
from xml.etree import ElementTree as ET

import pytest

from orchestrator_service.impact_chart import ShareCurve, impact_svg

SVG = "{http://www.w3.org/2000/svg}"
BEFORE, AFTER = "#8a94a6", "#1f6feb"
CURVE = ShareCurve(
    title="Shares of ROUTE over /a & /b",
    points=[
        (10, Counter({"YES": 4})),
        (Decimal("15.0"), Counter({"YES": 1, "NO": 3})),
        (30, Counter({"NO": 4})),
    ],
)


def drawn(before: dict[str, int], after: dict[str, int], curve: ShareCurve | None = None) -> ET.Element:
    return ET.fromstring(impact_svg(Counter(before), Counter(after), curve))


def widths(picture: ET.Element, colour: str) -> list[float]:
    return [float(each.get("width", "")) for each in picture.iter(f"{SVG}rect") if each.get("fill") == colour]


def texts(picture: ET.Element) -> list[str]:
    return [each.text or "" for each in picture.iter(f"{SVG}text")]


def lines(picture: ET.Element) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each curve by its colour."""
    found = {}
    for each in picture.iter(f"{SVG}polyline"):
        points = [point.split(",") for point in each.get("points", "").split()]
        found[each.get("stroke", "")] = [(float(x), float(y)) for x, y in points]
    return found


def test_bars_are_as_long_as_their_counts_side_by_side() -> None:
    picture = drawn({"NO": 30, "YES": 10}, {"YES": 40})

    # In the order of names: NO, then YES.
    assert widths(picture, AFTER) == [0.0, pytest.approx(360.0)]
    assert widths(picture, BEFORE) == [pytest.approx(270.0), pytest.approx(90.0)]
    assert {"NO", "YES", "30", "10", "0", "40"} <= set(texts(picture))


def test_curves_go_through_the_shares_of_each_outcome_at_each_value() -> None:
    picture = drawn({}, {}, CURVE)
    no, yes = lines(picture).values()
    (frame,) = [each for each in picture.iter(f"{SVG}rect") if each.get("stroke")]
    left, top = float(frame.get("x", "")), float(frame.get("y", ""))
    wide, high = float(frame.get("width", "")), float(frame.get("height", ""))

    # 15 lies a quarter of the way from 10 to 30; shares grow upwards.
    assert [x for x, _ in no] == [left, left + wide / 4, left + wide]
    assert [y for _, y in no] == [top + high, top + high / 4, top]
    assert [y for _, y in yes] == [top, top + high * 3 / 4, top + high]
    assert {"Shares of ROUTE over /a & /b", "10", "30", "0 %", "100 %"} <= set(texts(picture))


def test_one_value_alone_and_values_without_events_are_drawn() -> None:
    alone = ShareCurve(title="one", points=[(5, Counter({"YES": 2}))])
    picture = drawn({}, {}, alone)
    (line,) = lines(picture).values()
    (dot,) = picture.iter(f"{SVG}circle")
    assert line == [(float(dot.get("cx", "")), float(dot.get("cy", "")))]
    assert lines(drawn({}, {}, ShareCurve(title="none", points=[(5, Counter())]))) == {}


def test_everything_lies_within_the_picture_however_many_and_long_the_names_are() -> None:
    counts = {f"OUTCOME-{number:02}-{'x' * 60}": number for number in range(40)}
    curve = ShareCurve(title="many", points=[(1, Counter(counts)), (2, Counter(counts))])
    picture = drawn(counts, counts, curve)

    height = float(picture.get("height", ""))
    assert all(float(each.get("y", "")) <= height for each in picture.iter(f"{SVG}text"))
    assert all(len(text) <= 22 for text in texts(picture) if text.startswith("OUTCOME"))


def test_names_that_look_like_markup_are_written_as_text() -> None:
    assert "<b>&" in texts(drawn({"<b>&": 1}, {}))
