"""A flow as a picture: states, what is sent to them, what decides and where that leads.

The rooms: `picture` says what is drawn, `mermaid`, `dot` and `svg` write it down, `layers` places it for `svg`.
"""

from orchestrator_domain.flow.diagram.dot import as_dot
from orchestrator_domain.flow.diagram.mermaid import as_mermaid
from orchestrator_domain.flow.diagram.picture import Picture, picture_of
from orchestrator_domain.flow.diagram.svg import as_svg

__all__ = ["Picture", "as_dot", "as_mermaid", "as_svg", "picture_of"]
