"""One authenticated call, as the handlers of the routes get it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import UUID

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import NotFound
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import CorrelationId, is_key
from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.payloads import object_body, require_json
from orchestrator_http.query import read_query

UUID_FORM: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@frozen(kw_only=True)
class Call:
    """Who calls, with what. The body is read only when a handler asks for it, so refusals come before it."""

    actor: Actor
    correlation_id: CorrelationId
    headers: HeaderLines
    path_parameters: Mapping[str, str]
    read_body: Callable[[], Awaitable[bytes]]
    query_string: bytes = b""

    def path_uuid(self, name: str) -> UUID:
        """Return a path parameter that is an id; raise NotFound for what can't be one."""
        text = self.path_parameters[name]
        if not UUID_FORM.fullmatch(text):
            raise NotFound("There is nothing with this id.")
        return UUID(text)

    def path_key(self, name: str) -> str:
        """Return a path parameter that is a key; raise NotFound for what can't be one."""
        text = self.path_parameters[name]
        if not is_key(text):
            raise NotFound("There is nothing with this key.")
        return text

    def query(self, *known: str) -> Mapping[str, str]:
        """Return the query parameters; raise InvalidQuery for any that is unknown, repeated or unreadable."""
        return read_query(self.query_string, known=frozenset(known))

    async def json_object(self) -> JsonObject:
        """Read the body as one JSON object.

        Raises UnsupportedMediaType, BodyTooLarge, BodyTooSlow, MalformedJson or InvalidBody.
        """
        require_json(self.headers)
        return object_body(await self.read_body())
