"""Pictures show every state, event, decision and outcome, and nothing lies on anything else."""

import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.diagram import as_dot, as_mermaid, as_svg, picture_of
from orchestrator_domain.flow.diagram.layers import Box, placed_in_rows
from orchestrator_domain.flow.document import read_flow

EXAMPLE = Path(__file__).parents[4] / "examples" / "flows" / "credito-v1.json"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def document() -> Any:
    return parse_json(EXAMPLE.read_bytes())


@pytest.fixture
def flow(document: Any) -> FlowDefinition:
    return read_flow(document)


def test_the_picture_says_what_is_sent_what_decides_and_where_that_leads(flow: FlowDefinition) -> None:
    step = picture_of(flow).steps[-1]

    assert (step.from_state, step.event) == ("BURO_PENDIENTE", "VALIDAR_BURO")
    assert step.notes == ("if data.clienteId exists", "calls BURO_CONSULTA", "decides RUTA_SCORING (UNIQUE)")
    assert [(branch.outcome, branch.when, branch.to) for branch in step.branches] == [
        ("N", "buro.score > 70", "PASO_N"),
        ("M", "buro.score > 60 and buro.score ≤ 70", "PASO_M"),
        ("MANUAL", "no rule matches", "REVISION_MANUAL"),
    ]


@pytest.mark.parametrize("write", [as_mermaid, as_dot, as_svg])
def test_every_notation_names_every_state_event_and_outcome(flow: FlowDefinition, write: Any) -> None:
    written = write(picture_of(flow))

    for state in flow.states:
        assert state.key in written
    for step in picture_of(flow).steps:
        assert step.event in written
        assert all(branch.outcome in written for branch in step.branches)


@pytest.mark.parametrize("write", [as_mermaid, as_dot, as_svg])
def test_titles_with_signs_of_the_notation_do_no_harm(document: Any, write: Any) -> None:
    document["title"] = 'A "title" <b> & \\ more\n;'
    document["states"][0]["title"] = '"; } <script> # : ['

    written = write(picture_of(read_flow(document)))

    assert "<script>" not in written or write is as_dot
    if write is as_svg:
        ET.fromstring(written)
    if write is as_dot:
        assert re.sub(r'"(?:[^"\\]|\\.)*"', "", written).count("{") == 1


def test_the_svg_draws_one_box_for_each_state_step_and_branch_without_overlaps(flow: FlowDefinition) -> None:
    root = ET.fromstring(as_svg(picture_of(flow)))
    boxes = [
        tuple(float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class")
    ]

    assert len(boxes) == 7 + 4 + 9 + 3
    for (x, y, width, height), (other_x, other_y, other_width, other_height) in combinations(boxes, 2):
        apart_across = x + width <= other_x or other_x + other_width <= x
        assert apart_across or y + height <= other_y or other_y + other_height <= y


@given(
    st.integers(1, 12).flatmap(
        lambda count: st.tuples(
            st.lists(st.floats(5, 300), min_size=count, max_size=count),
            st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20),
        )
    )
)
def test_rows_lead_downwards_and_keep_their_boxes_apart(drawn: Any) -> None:
    widths, pairs = drawn
    edges = [(start, end) for start, end in pairs if start < end]

    placed = placed_in_rows([Box(width=width, height=20) for width in widths], edges)

    for start, end in edges:
        ways = [placed.centres[start], *placed.bends[start, end], placed.centres[end]]
        assert all(upper[1] < lower[1] for upper, lower in pairwise(ways))
    for one, other in combinations(range(len(widths)), 2):
        (x, y), (other_x, other_y) = placed.centres[one], placed.centres[other]
        assert y != other_y or abs(x - other_x) >= (widths[one] + widths[other]) / 2
