"""Find the examples: flows, and the catalogue that names the provider doubles."""

from pathlib import Path

from attrs import frozen

from orchestrator_sandbox.failure import SandboxFailure

_CATALOGUE = Path("catalogue") / "sandbox.json"
_CREDIT_FLOW = Path("flows") / "credito-v1.json"
_LICENCE_FLOW = Path("flows") / "credito-v2-licencia.json"
_PURCHASE_FLOW = Path("flows") / "compra-v1.json"
_ALL = (_CATALOGUE, _CREDIT_FLOW, _LICENCE_FLOW, _PURCHASE_FLOW)


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

    @property
    def licence_flow_file(self) -> Path:
        return self.directory / _LICENCE_FLOW

    @property
    def purchase_flow_file(self) -> Path:
        return self.directory / _PURCHASE_FLOW


def found_examples(given: Path | None) -> Examples:
    """Return the examples in the given directory, else those at or above the current one or this package.

    Raises SandboxFailure when they aren't there.
    """
    for directory in [given] if given is not None else _candidates():
        if all((directory / each).is_file() for each in _ALL):
            return Examples(directory=directory.absolute())
    place = "in this checkout or above the current directory" if given is None else f"in {given}"
    named = ", ".join(map(str, _ALL))
    raise SandboxFailure(f"No examples ({named}) were found {place}: name their directory with --examples.")


def _candidates() -> list[Path]:
    here = Path.cwd()
    return [above / "examples" for above in (here, *here.parents, *Path(__file__).resolve().parents)]
