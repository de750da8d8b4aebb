"""Every setting that some command reads, as the code asks for it."""

from collections.abc import Mapping
from contextlib import suppress

from orchestrator_service.environment import Environment, Setting, SettingsInvalid
from orchestrator_service.provision import provisioning_from
from orchestrator_service.settings import settings_from


def known_settings() -> Mapping[str, Setting]:
    """Return the settings by name."""
    environment = Environment({})
    settings_from(environment)
    with suppress(SettingsInvalid):
        # Nothing is set, so the command refuses; what it asked for stays.
        provisioning_from(environment)
    return environment.asked
