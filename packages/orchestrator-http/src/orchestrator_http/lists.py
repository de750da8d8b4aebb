"""How lists are read page by page: the two parameters that all have, and the shape of a page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_http.cursors import Cursors, ListView
from orchestrator_http.payloads import json_response
from orchestrator_http.query import whole_number

LIST_PARAMETERS: Final = ("limit", "cursor")
_LIMIT_DEFAULT: Final = 50
_LIMIT_MAX: Final = 100


@frozen(kw_only=True)
class ListReading:
    """One look at a list: how much of it, from where on, and for whom the next cursor is good."""

    limit: int
    begins_behind: JsonObject | None
    view: ListView
    cursors: Cursors

    @classmethod
    def of(
        cls,
        query: Mapping[str, str],
        name: str,
        reader: Actor,
        cursors: Cursors,
        *,
        filtered: JsonObject | None = None,
    ) -> Self:
        """Read `limit` and `cursor`; raise InvalidQuery or InvalidCursor."""
        view = ListView(list=name, reader=reader.subject, filter=filtered or {})
        cursor = query.get("cursor")
        return cls(
            limit=whole_number(query, "limit", default=_LIMIT_DEFAULT, least=1, most=_LIMIT_MAX),
            begins_behind=None if cursor is None else cursors.read(cursor, view),
            view=view,
            cursors=cursors,
        )

    def after[Position](self, position: Callable[[JsonObject], Position]) -> Position | None:
        return None if self.begins_behind is None else position(self.begins_behind)

    def cursor(self, position: JsonObject | None) -> str | None:
        """Return the cursor behind a position, None where the list has ended."""
        return None if position is None else self.cursors.written(position, self.view)


def page_response(items: Sequence[JsonObject], next_cursor: str | None) -> Response:
    headers = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
    return json_response({"items": list(items), "nextCursor": next_cursor}, headers=headers)
