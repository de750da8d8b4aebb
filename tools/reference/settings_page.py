"""The page of settings, from what the code asks the environment for."""

from tools.reference.wording import code, page, table

from orchestrator_service.environment import Setting
from orchestrator_service.known_settings import known_settings
from orchestrator_service.setting_meanings import MEANINGS

_HEAD = """\
Settings are environment variables. Everything is off or safe by default, an empty one counts as not set, and a start
that is refused tells all faults at once, without repeating a value. A name that is nearly one of these is a fault too.
`.env.example` names them all, and [how to run it in Kubernetes](../how-to/run-in-kubernetes.md) shows a set that works.

The catalogue of integrations names variables and files of its own for addresses and secrets;
`orchestrator catalogue check --deployed` looks them up. The commands `orchestrator reconcile …` read `ORCHESTRATOR_URL`
and `ORCHESTRATOR_TOKEN`."""


def settings_page() -> str:
    """Return the page; a KeyError names the setting that is read and has no meaning, or the other way round."""
    settings = dict(known_settings())
    parts = []
    for group, meanings in MEANINGS.items():
        rows = [_row(settings.pop(name), meaning) for name, meaning in meanings.items()]
        parts.append(f"## {group}\n\n" + table(("setting", "meaning", "value", "default"), rows))
    if settings:
        raise KeyError(*settings)
    return page("Settings", _HEAD, *parts)


def _row(setting: Setting, meaning: str) -> tuple[str, str, str, str]:
    needed = "needed" if setting.required else code(setting.default or "")
    return code(setting.name), meaning, _value(setting), needed


def _value(setting: Setting) -> str:
    if setting.least is None:
        return setting.form
    return f"{setting.form}, {setting.least} to {setting.most}"
