"""Run revisions on the connection that `migrate` hands in; Alembic executes this file."""

from alembic import context

from orchestrator_postgres.schema_revision import SCHEMA

context.configure(
    connection=context.config.attributes["connection"],
    version_table_schema=SCHEMA,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
