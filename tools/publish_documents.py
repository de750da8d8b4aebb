"""Copy the contract and the pages of the problem catalogue into the package that serves them.

The contract is written as JSON too, so that the service needs no YAML. A test holds copies and originals together.
"""

import json
import shutil
from pathlib import Path

from openapi_spec_validator.readers import read_from_filename

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "contracts" / "openapi.yaml"
PAGES = ROOT / "docs" / "problems"
PUBLISHED = ROOT / "packages" / "orchestrator-http" / "src" / "orchestrator_http" / "published"


def published_documents() -> dict[str, bytes]:
    """Return every file that the package should hold, by its place below `published/`."""
    contract = CONTRACT.read_bytes()
    whole, _ = read_from_filename(str(CONTRACT))
    return {
        "openapi.yaml": contract,
        "openapi.json": (json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n").encode(),
        **{f"problems/{page.name}": page.read_bytes() for page in sorted(PAGES.glob("*.md"))},
    }


def main() -> None:
    shutil.rmtree(PUBLISHED / "problems", ignore_errors=True)
    for place, content in published_documents().items():
        file = PUBLISHED / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    main()
