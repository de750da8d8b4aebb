"""Find the examples: flows, and the catalogue that names the provider doubles."""

from pathlib import Path

from attrs import frozen

from orchestrator_sandbox.failure import SandboxFailure

_CATALOGUE = Path("catalogue") / "sandbox.json"
_CREDIT_FLOW = Path("flows") / "credito-v1.json"


@frozen(kw_only=True)
class Examples:
    """The directory `examples` of the repository, or one that is laid out alike."""

    directory: Path

    @property
    def catalogue_file(self) -> Path:
        return self.directory / _CATALOGUE

    @property
    def credit_flow_file(self) -> Path:
        return self.directory / _CREDIT_FLOW


def found_examples(given: Path | None) -> Examples:
    """Return the examples in the given directory, else those at or above the current one or this package.

    Raises SandboxFailure when they aren't there.
    """
    for directory in [given] if given is not None else _candidates():
        if (directory / _CATALOGUE).is_file() and (directory / _CREDIT_FLOW).is_file():
            return Examples(directory=directory.absolute())
    place = "in this checkout or above the current directory" if given is None else f"in {given}"
    raise SandboxFailure(
        f"No examples ({_CREDIT_FLOW} and {_CATALOGUE}) were found {place}: name their directory with --examples."
    )


def _candidates() -> list[Path]:
    here = Path.cwd()
    return [above / "examples" for above in (here, *here.parents, *Path(__file__).resolve().parents)]
