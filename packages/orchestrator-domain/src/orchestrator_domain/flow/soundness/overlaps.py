"""What the exact analysis says about the rules of each decision."""

from collections.abc import Iterator

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.regions import Analysis, Overlap, analyse
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_domain.flow.soundness.examined import Examined, warning


def overlap_findings(examined: Examined) -> Iterator[Finding]:
    """Yield overlaps and dead rules, and as information what the default catches and what stays undecided."""
    for decision in examined.flow.decisions:
        analysis = analyse(decision)
        yield from (_overlap(examined, overlap) for overlap in analysis.overlaps)
        for rule in analysis.never_matching:
            message = f"The rule '{rule.id}' can never match; correct its condition or remove it."
            yield warning("RULE_NEVER_MATCHES", examined.place_of(rule).child("when"), message)
        yield from _information(examined, decision, analysis)


def _overlap(examined: Examined, overlap: Overlap) -> Finding:
    return Finding(
        code="OVERLAPPING_RULES",
        pointer=str(examined.place_of(overlap.second).child("when")),
        message=(
            f"The rules '{overlap.first.id}' and '{overlap.second.id}' both match the witness, and UNIQUE allows one; "
            "make them exclude each other, or write FIRST."
        ),
        witness=overlap.witness,
    )


def _information(examined: Examined, decision: DecisionDefinition, analysis: Analysis) -> Iterator[Finding]:
    place = examined.place_of(decision)
    if analysis.left_to_default is not None:
        message = f"No rule matches the witness, which gets the default output '{decision.default_output}'."
        at = place.child("defaultOutput")
        yield _information_at("LEFT_TO_DEFAULT", at, message, analysis.left_to_default)
    for rule in analysis.undecided:
        message = f"The rule '{rule.id}' compares two paths, so its overlaps are found at run time only."
        yield _information_at("UNDECIDED_RULE", examined.place_of(rule).child("when"), message)
    if analysis.incomplete:
        message = (
            "The decision is too intricate to be analysed in full; other overlaps are found at run time."
        )
        yield _information_at("ANALYSIS_INCOMPLETE", place, message)


def _information_at(code: str, at: Pointer, message: str, witness: JsonObject | None = None) -> Finding:
    return Finding(
        code=code, pointer=str(at), message=message, severity=Severity.INFORMATION, witness=witness
    )
