"""What properties are tried under, here and in every other room."""

from hypothesis import HealthCheck, settings


def test_no_property_fails_because_a_machine_is_slow() -> None:
    # Also where one sets a number of examples: what it leaves out comes from the profile.
    tried = settings(max_examples=1)
    assert tried.deadline is None
    assert HealthCheck.too_slow in tried.suppress_health_check
