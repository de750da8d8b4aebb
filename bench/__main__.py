"""`python -m bench [--only NAME]`: measure, print a table, and write `.bench/results.json`."""

import argparse
import sys
from collections.abc import Sequence

from bench.figure import Figure, Outcome
from bench.figures import all_figures
from bench.report import print_outcome, write_results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the figures; the answer is 1 if one is unknown or could not be measured, 0 otherwise, targets met or not."""
    figures = all_figures()
    chosen = _chosen(figures, _parsed(arguments).only)
    if not chosen:
        print(f"There is no such figure; there are: {', '.join(figure.name for figure in figures)}.")
        return 1
    outcomes: list[Outcome] = []
    failed = False
    for figure in chosen:
        try:
            outcomes.append(figure.outcome())
        except Exception as fault:  # noqa: BLE001  # one figure that can't be measured must not hide the others
            print(f"{figure.name}: not measured: {fault}")
            failed = True
        else:
            print_outcome(outcomes[-1])
            sys.stdout.flush()
    write_results(outcomes)
    return int(failed)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="run this figure alone, or those whose names start so")
    return parser.parse_args(arguments)


def _chosen(figures: Sequence[Figure], only: str | None) -> Sequence[Figure]:
    if only is None:
        return figures
    exact = [figure for figure in figures if figure.name == only]
    return exact or [figure for figure in figures if figure.name.startswith(only)]


if __name__ == "__main__":
    sys.exit(main())
