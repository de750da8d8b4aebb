"""What reading a document gathers on its way: findings, and where each part was read."""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum
from typing import Final

from attrs import define, field

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.findings import Finding

_SHOWN_NAME_MAX = 100


class Unreadable(Enum):
    """Stand where a part could not be read; the finding that says why was made already."""

    UNREADABLE = "UNREADABLE"


UNREADABLE: Final = Unreadable.UNREADABLE


@define(kw_only=True)
class Reading:
    """Collect findings in the document's order, and remember the place of every part by its identity."""

    findings: list[Finding] = field(factory=list)
    _places: dict[int, tuple[object, Pointer]] = field(factory=dict)

    def fault(self, code: str, at: Pointer, message: str, suggestion: str | None = None) -> Unreadable:
        self.findings.append(Finding(code=code, pointer=str(at), message=message, suggestion=suggestion))
        return UNREADABLE

    def placed[T](self, part: T, at: Pointer) -> T:
        """Remember where the part was read, and return it."""
        # The part is kept as well, or its identity could be given to another one.
        self._places[id(part)] = (part, at)
        return part

    def place_of(self, part: object) -> Pointer:
        return self._places[id(part)][1]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, if any is near."""
    folded = {candidate.casefold(): candidate for candidate in known}
    found = get_close_matches(name[:_SHOWN_NAME_MAX].casefold(), folded, n=1)
    # A member of an enumeration is no plain string, which suggestions are.
    return str(folded[found[0]]) if found else None


def shown(name: str) -> str:
    """Return a member name or key as messages quote it, cut where it would drown the sentence."""
    return f"'{name}'" if len(name) <= _SHOWN_NAME_MAX else f"'{name[:_SHOWN_NAME_MAX]}…'"
