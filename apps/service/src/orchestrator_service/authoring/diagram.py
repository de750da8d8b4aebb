"""`flow diagram`."""

import argparse

from orchestrator_domain.flow.diagram import as_dot, as_mermaid, as_svg, picture_of
from orchestrator_service.authoring.sources import read_definition


def draw(chosen: argparse.Namespace) -> int:
    """Print the picture of a flow."""
    picture = picture_of(read_definition(chosen.file))
    write = {"mermaid": as_mermaid, "dot": as_dot, "svg": as_svg}[chosen.format]
    print(write(picture), end="")
    return 0
