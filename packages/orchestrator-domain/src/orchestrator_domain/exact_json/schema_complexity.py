"""How much work a schema can make of one value: by references that multiply, and by recursion that branches."""

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import define, field

from orchestrator_domain.exact_json.schema_graph import Application, Part, SchemaGraph
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

PARTS_MAX: Final = 20_000
"""How many subschemas a schema may have once its references are written out, a recursive one once on each way."""

_STEPS_MAX: Final = 200_000


def is_too_complex(schema: JsonValue, shared: Mapping[str, JsonValue]) -> bool:
    """Tell whether a value can make work that grows exponentially in the length of the schema or its own depth.

    Either the subschemas are more than PARTS_MAX once references are written out, or a recursive schema applies itself
    twice to one part of a value, so that each further level of the value doubles the work.
    """
    if not isinstance(schema, dict):
        return False
    graph = SchemaGraph(root=schema, shared=shared)
    order = _Order(graph=graph)
    order.visit(schema)
    if order.parts_of(schema) > PARTS_MAX:
        return True
    return _branches(order)


@define(kw_only=True)
class _Order:
    """Walk depth first (Tarjan): sizes are known from the leaves up, and which schemas lead back to themselves."""

    graph: SchemaGraph
    _schemas: dict[int, JsonObject] = field(factory=dict)
    _low: dict[int, int] = field(factory=dict)
    _stack: list[int] = field(factory=list)
    _circle: dict[int, int] = field(factory=dict)
    _parts: dict[int, int] = field(factory=dict)

    def visit(self, start: JsonObject) -> None:
        numbers: dict[int, int] = {}
        walk: list[tuple[JsonObject, Iterator[Application]]] = []
        self._enter(start, numbers, walk)
        while walk:
            schema, edges = walk[-1]
            edge = next(edges, None)
            if edge is None:
                walk.pop()
                self._leave(schema, numbers, walk)
            elif id(edge.schema) not in numbers:
                self._enter(edge.schema, numbers, walk)
            elif id(edge.schema) not in self._circle:
                self._low[id(schema)] = min(self._low[id(schema)], numbers[id(edge.schema)])

    def parts_of(self, schema: JsonObject) -> int:
        return self._parts[id(schema)]

    def recursive(self) -> Iterator[JsonObject]:
        """Yield the schemas from which a way leads back to themselves."""
        for key, schema in self._schemas.items():
            if any(self.is_on_circle_of(schema, edge.schema) for edge in self.graph.edges(schema)):
                yield self._schemas[key]

    def is_on_circle_of(self, schema: JsonObject, other: JsonObject) -> bool:
        return self._circle[id(schema)] == self._circle[id(other)]

    def _enter(
        self,
        schema: JsonObject,
        numbers: dict[int, int],
        walk: list[tuple[JsonObject, Iterator[Application]]],
    ) -> None:
        numbers[id(schema)] = self._low[id(schema)] = len(numbers)
        self._schemas[id(schema)] = schema
        self._stack.append(id(schema))
        walk.append((schema, iter(self.graph.edges(schema))))

    def _leave(
        self,
        schema: JsonObject,
        numbers: dict[int, int],
        walk: list[tuple[JsonObject, Iterator[Application]]],
    ) -> None:
        here = id(schema)
        below = sum(self._parts.get(id(edge.schema), 1) for edge in self.graph.edges(schema))
        self._parts[here] = min(1 + below, PARTS_MAX + 1)
        if walk:
            above = id(walk[-1][0])
            self._low[above] = min(self._low[above], self._low[here])
        if self._low[here] == numbers[here]:
            while here not in self._circle:
                self._circle[self._stack.pop()] = numbers[here]


def _branches(order: _Order) -> bool:
    """Tell whether from some schema two ways lead to one part of a value and both back to the schema's circle."""
    steps_left = _STEPS_MAX
    for schema in order.recursive():
        parts, pending = _Parts(), [schema]
        while pending:
            holder = pending.pop()
            parts.visit += 1
            for edge in order.graph.edges(holder):
                steps_left -= 1
                if not order.is_on_circle_of(schema, edge.schema):
                    continue
                if edge.part is None:
                    pending += [edge.schema] if edge.schema is not schema else []
                elif parts.meets_another(edge.part):
                    return True
            if steps_left < 0:
                return True
    return False


@define(kw_only=True)
class _Parts:
    """The parts that were met, each with two of the visits that met them, which are enough to know of another.

    Those of one object's patterns and rest, or of one array's positions, mostly exclude each other.
    """

    visit: int = 0
    _named: set[str] = field(factory=set)
    _visits: dict[Part | type[str], tuple[int, ...]] = field(factory=dict)

    def meets_another(self, part: str | Part) -> bool:
        if isinstance(part, str):
            known = part in self._named or self._elsewhere(Part.MEMBERS)
            self._named.add(part)
            self._met(str)
            return known
        known = self._elsewhere(part) or (part is Part.MEMBERS and self._elsewhere(str))
        self._met(part)
        return known

    def _met(self, part: Part | type[str]) -> None:
        if len(visits := self._visits.get(part, ())) < 2 and self.visit not in visits:
            self._visits[part] = (*visits, self.visit)

    def _elsewhere(self, part: Part | type[str]) -> bool:
        return any(visit != self.visit for visit in self._visits.get(part, ()))
