"""Run 0010_cheaper_checks_of_hashes.sql."""

from pathlib import Path

from alembic import op

from orchestrator_postgres.migrations.plain_sql import run_sql_file

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_file(op.get_bind(), Path(__file__).with_name("0010_cheaper_checks_of_hashes.sql"))
