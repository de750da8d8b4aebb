"""What importing the domain costs a process that hosts it: every public name, asked for in a fresh interpreter."""

import subprocess
import sys

from bench.figure import Figure, Measured, ValueAtMost
from bench.sample import alternately

_PROGRAM = """
from time import perf_counter
start = perf_counter()
import orchestrator_domain as domain
for name in domain.__all__:
    getattr(domain, name)
print(perf_counter() - start)
"""


def _import() -> Measured:
    return Measured(value=alternately({"ours": _milliseconds_in_a_fresh_interpreter})["ours"])


def _milliseconds_in_a_fresh_interpreter() -> float:
    told = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    return float(told.stdout) * 1e3


FIGURES = (Figure(name="import-domain", unit="ms", target=ValueAtMost(150), measure=_import),)
