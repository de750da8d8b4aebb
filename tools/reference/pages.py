"""Which files are made, and of what."""

from collections.abc import Mapping
from pathlib import Path

from tools.reference.commands_page import commands_page
from tools.reference.env_example import env_example
from tools.reference.execution_errors_page import execution_errors_page
from tools.reference.metrics_page import metrics_page
from tools.reference.pictures import pictures
from tools.reference.problems_page import problems_page
from tools.reference.schema_page import schema_page
from tools.reference.settings_page import settings_page

ROOT = Path(__file__).parents[2]


def made_files() -> Mapping[str, str]:
    """Return the content of each made file by its place in the repository."""
    schemas = ROOT / "contracts" / "schemas"
    return {
        ".env.example": env_example(),
        "docs/reference/settings.md": settings_page(),
        "docs/reference/commands.md": commands_page(),
        "docs/reference/metrics.md": metrics_page(),
        "docs/reference/problems.md": problems_page(ROOT / "docs" / "problems"),
        "docs/reference/execution-errors.md": execution_errors_page(),
        "docs/reference/flow-language.md": schema_page(schemas / "flow-definition.schema.json"),
        "docs/reference/integration-catalogue.md": schema_page(schemas / "integration-catalogue.schema.json"),
        **{
            f"docs/pictures/{name}.svg": drawn
            for name, drawn in pictures(ROOT / "examples" / "flows").items()
        },
    }
