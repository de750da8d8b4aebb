"""Let no property fail for the machine that it is tried on: laws hold on a slow or busy one as well."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine",
    parent=settings.get_profile("default"),
    # Both compare with the clock of the wall: 0.2 s for an example, 1 s for the first few inputs.
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")
