"""Which tests the domain's coverage is measured by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st


@given(st.none())
def test_what_draws_its_cases_is_left_out_of_the_measurement(
    request: pytest.FixtureRequest, drawn: None
) -> None:
    assert request.node.get_closest_marker("no_cover") is not None


def test_what_names_its_cases_is_measured(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("no_cover") is None
