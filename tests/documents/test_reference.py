"""The reference says what the code says: pages and pictures are made of it, and are as they were made."""

import pytest
from tools.reference.pages import ROOT, made_files
from tools.reference.settings_page import settings_page

from orchestrator_service import setting_meanings
from orchestrator_service.environment import Setting, SettingsInvalid
from orchestrator_service.known_settings import known_settings
from orchestrator_service.settings import read_settings

MADE = made_files()
MINIMAL = {"DATABASE_URL": "postgresql://runtime@127.0.0.1/orchestrator", "MANAGEMENT_PORT": "0"}
WITH_DEFAULT = {name: setting.default for name, setting in known_settings().items() if setting.default}
BOUNDED = [setting for setting in known_settings().values() if setting.most is not None]


@pytest.mark.parametrize("place", MADE)
def test_what_is_made_is_as_the_code_says(place: str) -> None:
    assert (ROOT / place).read_text(encoding="utf-8") == MADE[place], "make reference"


def test_every_picture_belongs_to_an_example_or_to_the_protocol() -> None:
    pictures = {str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "pictures").iterdir()}
    assert pictures <= MADE.keys()


@pytest.mark.parametrize("name", WITH_DEFAULT)
def test_a_default_of_the_page_is_the_one_that_holds(name: str) -> None:
    assert read_settings({**MINIMAL, name: WITH_DEFAULT[name] or ""}) == read_settings(MINIMAL)


def test_another_value_than_the_default_is_another_setting() -> None:
    assert read_settings({**MINIMAL, "WORKER_POLL_MS": "501"}) != read_settings(MINIMAL)


@pytest.mark.parametrize("setting", BOUNDED, ids=lambda setting: setting.name)
def test_a_bound_of_the_page_is_the_one_that_holds(setting: Setting) -> None:
    assert setting.most is not None
    with pytest.raises(SettingsInvalid) as refusal:
        read_settings({**MINIMAL, setting.name: str(setting.most + 1)})
    assert f"{setting.name} must be between {setting.least} and {setting.most}." in refusal.value.faults


def test_a_setting_without_a_meaning_makes_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {**setting_meanings.MEANINGS, "Logs": {}}
    monkeypatch.setattr("tools.reference.settings_page.MEANINGS", fewer)

    with pytest.raises(KeyError, match="LOG_LEVEL"):
        settings_page()
