"""What is wrong with a catalogue file."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from orchestrator_domain.errors import OrchestratorError


@frozen(kw_only=True)
class CatalogueFault:
    """One fault: a stable code, the JSON Pointer of its place, and a sentence that holds no secret."""

    pointer: str
    code: str
    message: str


class CatalogueInvalid(OrchestratorError):
    """The catalogue can't be used; `faults` lists everything that is wrong with it."""

    code: ClassVar[str] = "CATALOGUE_INVALID"

    def __init__(self, faults: Sequence[CatalogueFault]) -> None:
        super().__init__(f"The integration catalogue has {len(faults)} fault(s): {_listed(faults)}")
        self.faults = tuple(faults)


def _listed(faults: Sequence[CatalogueFault]) -> str:
    return " ".join(f"[{fault.code} at '{fault.pointer}'] {fault.message}" for fault in faults)
