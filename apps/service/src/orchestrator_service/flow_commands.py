"""The commands `flow …` and `catalogue …`; each is imported only when it is asked for."""

import argparse
import sys

from orchestrator_service.authoring.sources import UnusableFile

_UNUSABLE = 2


def run_author_command(chosen: argparse.Namespace) -> int:
    """Run one command; return its exit code, 2 for a file that can't be used."""
    try:
        return _run(chosen)
    except UnusableFile as unusable:
        print(f"{unusable.code}: {unusable.message}", file=sys.stderr)
        return _UNUSABLE


def _run(chosen: argparse.Namespace) -> int:
    match (chosen.command, chosen.action):
        case ("catalogue", _):
            from orchestrator_service.authoring.validate import check_catalogues  # noqa: PLC0415 -- see above

            return check_catalogues(chosen)
        case (_, "validate"):
            from orchestrator_service.authoring.validate import validate  # noqa: PLC0415 -- see above

            return validate(chosen)
        case (_, "diagram"):
            from orchestrator_service.authoring.diagram import draw  # noqa: PLC0415 -- see above

            return draw(chosen)
        case (_, "diff"):
            from orchestrator_service.authoring.diff import compare  # noqa: PLC0415 -- see above

            return compare(chosen)
        case (_, "cases"):
            from orchestrator_service.authoring.cases import make_or_run_cases  # noqa: PLC0415 -- see above

            return make_or_run_cases(chosen)
        case (_, "simulate"):
            from orchestrator_service.authoring.simulate import simulate  # noqa: PLC0415 -- see above

            return simulate(chosen)
        case (_, "decide"):
            from orchestrator_service.flow_decide import decide  # noqa: PLC0415 -- see above

            return decide(chosen)
        case (_, "replay"):
            from orchestrator_service.flow_replay import replay  # noqa: PLC0415 -- see above

            return replay(chosen)
        case _:
            from orchestrator_service.authoring.explain import explain  # noqa: PLC0415 -- see above

            return explain(chosen)
