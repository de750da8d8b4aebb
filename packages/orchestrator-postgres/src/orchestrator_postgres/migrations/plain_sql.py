"""Run a file of SQL as it is written."""

from pathlib import Path

from sqlalchemy import Connection


def run_sql_file(connection: Connection, path: Path) -> None:
    """Execute every statement of the file in the connection's transaction."""
    # Past SQLAlchemy: neither `:name` nor `%` means anything to whoever reads or writes these files.
    driver_connection = connection.connection.driver_connection
    if driver_connection is None:
        raise RuntimeError("The connection is closed.")
    driver_connection.execute(path.read_text(encoding="utf-8"))
