"""`orchestrator migrate`: bring the schema to this release's revision, as the role that owns it."""

import json
import sys
from collections.abc import Mapping

from orchestrator_postgres.migrate import migrate
from orchestrator_service.settings import read_migration_url


def migrate_database(variables: Mapping[str, str]) -> int:
    """Run the migrations and say in one JSON line where the schema is; return the exit code."""
    migrated = migrate(read_migration_url(variables))
    if migrated.missing_roles:
        roles = ", ".join(migrated.missing_roles)
        print(
            f"These group roles don't exist, so nothing was granted to them: {roles}. Create them and migrate again.",
            file=sys.stderr,
        )
    print(json.dumps({"revision": migrated.revision}))
    return 0
