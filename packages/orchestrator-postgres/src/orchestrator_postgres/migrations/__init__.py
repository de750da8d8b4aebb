"""The schema's revisions, as Alembic keeps them, each one a file of plain SQL."""
