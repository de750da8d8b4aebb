"""Where updates write, and whether two of them could write at one place."""

from collections.abc import Iterator

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.definition import Transition, Update
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error


def update_findings(examined: Examined) -> Iterator[Finding]:
    """Yield targets that can't be written, and targets that meet."""
    for transition in examined.flow.transitions:
        for update in transition.updates:
            yield from _target(update, examined.place_of(update).child("target"))
        yield from _overlaps(examined, transition)


def _target(update: Update, place: Pointer) -> Iterator[Finding]:
    if not update.target.tokens:
        message = "The whole data is no target; name the member that is to be written."
        yield error("WHOLE_DATA_TARGET", place, message)
    if "-" in update.target.tokens:
        message = "'-' is no target, for updates don't lengthen arrays; name a member or an existing element."
        yield error("APPENDING_TARGET", place, message)


def _overlaps(examined: Examined, transition: Transition) -> Iterator[Finding]:
    """In the order of their tokens, the targets that a target lies below come right before it."""
    above: list[Update] = []
    for update in sorted(transition.updates, key=lambda each: each.target.tokens):
        above = [each for each in above if update.target.starts_with(each.target)]
        for other in above:
            if _may_meet(update, other):
                yield _overlap(examined, update, other)
        above.append(update)


def _may_meet(first: Update, second: Update) -> bool:
    if first.outputs is None or second.outputs is None:
        return True
    return not first.outputs.isdisjoint(second.outputs)


def _overlap(examined: Examined, update: Update, other: Update) -> Finding:
    places = sorted(
        (examined.place_of(other), examined.place_of(update)), key=lambda each: int(each.tokens[-1])
    )
    message = (
        f"This target overlaps with that of {places[0]}; "
        "write apart places, or limit the two to outputs that never meet."
    )
    return error("OVERLAPPING_TARGETS", places[1].child("target"), message)
