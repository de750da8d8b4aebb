"""Rows by key, and the view that one transaction has of them."""

from collections.abc import Iterator
from typing import Protocol


class Table[Key, Row]:
    """Hold immutable rows. `changes` grows with every commit that touched the table."""

    def __init__(self) -> None:
        self.rows: dict[Key, Row] = {}
        self.changes = 0


class TableView(Protocol):
    """What committing needs of a view, whatever its rows are."""

    def holds(self) -> bool: ...

    def apply(self) -> None: ...


class View[Key, Row](TableView):
    """Read a table and collect writes to it, until `apply`.

    A row counts as moved when another object is found under its key: rows are immutable and replaced as a whole.
    """

    def __init__(self, table: Table[Key, Row]) -> None:
        self._table = table
        self._seen: dict[Key, Row | None] = {}
        self._written: dict[Key, Row | None] = {}
        self._scanned_at: int | None = None

    def get(self, key: Key) -> Row | None:
        if key in self._written:
            return self._written[key]
        found = self._table.rows.get(key)
        return self._seen.setdefault(key, found)

    def put(self, key: Key, row: Row) -> None:
        self._written[key] = row

    def remove(self, key: Key) -> None:
        self._written[key] = None

    def values(self) -> Iterator[Row]:
        """Give every row, in the order in which their keys first came."""
        if self._scanned_at is None:
            self._scanned_at = self._table.changes
        for key in list(dict.fromkeys((*self._table.rows, *self._written))):
            row = self._written[key] if key in self._written else self._table.rows.get(key)
            if row is not None:
                yield row

    def holds(self) -> bool:
        """Say whether everything that was read still is as it was read."""
        if self._scanned_at not in (None, self._table.changes):
            return False
        return all(self._table.rows.get(key) is row for key, row in self._seen.items())

    def apply(self) -> None:
        """Write what was collected; the caller has made sure that the view holds."""
        for key, row in self._written.items():
            if row is None:
                self._table.rows.pop(key, None)
            else:
                self._table.rows[key] = row
        self._table.changes += bool(self._written)
