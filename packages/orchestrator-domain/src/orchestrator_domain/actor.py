"""Who acts, as the trusted part of a verified token says it."""

from collections.abc import Mapping

from attrs import field, frozen

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import BusinessScope, Role, Subject


@frozen(kw_only=True)
class Actor:
    """Name a subject with its roles, business scopes and trusted attributes.

    `roles` are business roles of flows and technical permissions alike; neither ever widens `scopes`.
    """

    subject: Subject
    roles: frozenset[Role] = frozenset()
    scopes: frozenset[BusinessScope] = frozenset()
    attributes: Mapping[str, JsonValue] = field(factory=dict)

    def holds_any(self, allowed: frozenset[Role]) -> bool:
        return not self.roles.isdisjoint(allowed)

    def may_see(self, *, owner: Subject, scope: BusinessScope) -> bool:
        """Say whether a resource of this owner and scope is visible (specification, section 12)."""
        return self.subject == owner or scope in self.scopes

    def as_context(self) -> JsonObject:
        """Return what conditions read below `/actor`; also the snapshot that an execution keeps."""
        return {
            "subject": self.subject,
            "roles": [*sorted(self.roles)],
            "scopes": [*sorted(self.scopes)],
            "attributes": dict(self.attributes),
        }
