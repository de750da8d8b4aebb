"""`.env.example`: every setting with its default, and the secrets that a development machine needs, without values."""

import textwrap
from collections.abc import Iterator, Mapping

from orchestrator_service.environment import Setting
from orchestrator_service.known_settings import known_settings
from orchestrator_service.setting_meanings import MEANINGS

_HEAD = """\
# Made by `make reference`. `make .env` copies it to .env, with a random value for each line that ends in "=".
# compose.yaml and `make local` read .env. Nothing secret is kept in this file, and .env is never committed.

# Secrets of this machine: passwords in the database of compose.yaml, and what signs the cursors of lists.
ADMINISTRATOR_PASSWORD=
MIGRATION_PASSWORD=
RUNTIME_PASSWORD=
RETENTION_PASSWORD=
CURSOR_SECRETS=

# Ports on this machine's loopback, where compose.yaml publishes its containers.
#POSTGRES_PORT=5432
#ISSUER_PORT=9000
#PROVIDERS_PORT=9001

# What the example's catalogue of integrations refers to.
#PROVIDERS_URL=http://127.0.0.1:9001

# Every setting of the service, with its default. Those of the database are put together from the passwords above.
"""
_ABOVE = "CURSOR_SECRETS"


def env_example() -> str:
    """Return the file."""
    settings = known_settings()
    return _HEAD + "".join(
        f"\n# --- {group}\n{''.join(_group(meanings, settings))}" for group, meanings in MEANINGS.items()
    )


def _group(meanings: Mapping[str, str], settings: Mapping[str, Setting]) -> Iterator[str]:
    for name, meaning in meanings.items():
        if name != _ABOVE:
            told = textwrap.fill(meaning, 110, initial_indent="# ", subsequent_indent="# ")
            yield f"{told}\n#{name}={settings[name].default or ''}\n"
