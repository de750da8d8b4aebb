"""What importing the domain costs a process that hosts it: by itself, and with every public name asked for."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.figure import Figure, Measured, ValueAtMost
from bench.sample import alternately

_COMPILED = Path(__file__).parents[2] / ".bench" / "compiled"
_ALONE = """
from time import process_time
start = process_time()
import orchestrator_domain
print(process_time() - start)
"""
_EVERY_NAME = """
from time import process_time
start = process_time()
import orchestrator_domain as domain
for name in domain.__all__:
    getattr(domain, name)
print(process_time() - start)
"""


def _measuring(program: str) -> Callable[[], Measured]:
    return lambda: Measured(
        value=alternately({"ours": lambda: _milliseconds_in_a_fresh_interpreter(program)})["ours"]
    )


def _milliseconds_in_a_fresh_interpreter(program: str) -> float:
    """Return the time that the interpreter worked, so that nothing else on the machine is counted.

    Modules are compiled in the round that doesn't count, as an installation compiles them; some environments keep Python
    from storing what it has compiled.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPYCACHEPREFIX": str(_COMPILED)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout) * 1e3


FIGURES = (
    Figure(name="import-domain", unit="ms", target=ValueAtMost(150), measure=_measuring(_ALONE)),
    Figure(
        name="import-domain-every-name", unit="ms", target=ValueAtMost(150), measure=_measuring(_EVERY_NAME)
    ),
)
