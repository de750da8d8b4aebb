"""The technical permissions, apart from the business roles that flows name, and never widening a scope."""

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import AccessDenied
from orchestrator_domain.identifiers import Role

FLOW_EDITOR = Role("FLOW_EDITOR")
FLOW_PUBLISHER = Role("FLOW_PUBLISHER")
FLOW_ADMIN = Role("FLOW_ADMIN")
EXECUTION_OPERATOR = Role("EXECUTION_OPERATOR")
AUDITOR = Role("AUDITOR")

FLOW_READERS = frozenset({FLOW_EDITOR, FLOW_PUBLISHER, FLOW_ADMIN, AUDITOR})


def require_any(actor: Actor, *permissions: Role) -> None:
    """Raise AccessDenied unless the actor holds one of the permissions."""
    if not actor.holds_any(frozenset(permissions)):
        raise AccessDenied(f"This needs one of the roles {', '.join(sorted(permissions))}.")
