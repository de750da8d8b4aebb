"""One module for each group of figures; each has a tuple FIGURES."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from bench.figure import Figure


def all_figures() -> Sequence[Figure]:
    """Return the figures of every module beside this one, in the order of the modules' names."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return [figure for module in modules for figure in module.FIGURES]
