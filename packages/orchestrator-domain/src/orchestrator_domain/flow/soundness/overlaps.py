"""What the exact analysis says about the rules of each decision."""

from collections.abc import Iterator

from orchestrator_domain.decision.definition import DecisionDefinition, Rule
from orchestrator_domain.decision.regions import STEPS_MAX, Analysis, Overlap, analyse
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_domain.flow.soundness.examined import Examined


def overlap_findings(examined: Examined, steps_max: int) -> Iterator[Finding]:
    """Yield overlaps as errors, rules without effect as warnings, and all else that an author may not expect.

    All decisions together take `steps_max` steps of analysis, so that no flow can keep its validation busy.
    """
    for decision in examined.flow.decisions:
        analysis = analyse(decision, steps_max=min(steps_max, STEPS_MAX))
        steps_max -= analysis.steps
        yield from (_overlap(examined, overlap) for overlap in analysis.overlaps)
        yield from _without_effect(examined, analysis)
        yield from _regions(examined, decision, analysis)
        yield from _limits_of_the_analysis(examined, decision, analysis)


def _overlap(examined: Examined, overlap: Overlap) -> Finding:
    return Finding(
        code="OVERLAPPING_RULES",
        pointer=_condition_of(examined, overlap.second),
        message=(
            f"The rules '{overlap.first.id}' and '{overlap.second.id}' both match the witness, and UNIQUE allows one; "
            "make them exclude each other, or write FIRST."
        ),
        witness=overlap.witness,
    )


def _without_effect(examined: Examined, analysis: Analysis) -> Iterator[Finding]:
    for rule in analysis.never_matching:
        yield Finding(
            code="RULE_NEVER_MATCHES",
            pointer=_condition_of(examined, rule),
            message=f"The rule '{rule.id}' can never match; correct its condition or remove it.",
            severity=Severity.WARNING,
        )
    for masked in analysis.masked:
        yield Finding(
            code="RULE_MASKED",
            pointer=_condition_of(examined, masked.rule),
            message=(
                f"Wherever the rule '{masked.rule.id}' matches, as in the witness, another rule decides or fails "
                "before it counts; correct one of them, or remove this one."
            ),
            severity=Severity.WARNING,
            witness=masked.witness,
        )


def _regions(examined: Examined, decision: DecisionDefinition, analysis: Analysis) -> Iterator[Finding]:
    for witness in analysis.left_to_default:
        message = f"No rule matches the witness, which gets the default output '{decision.default_output}'."
        at = examined.place_of(decision).child("defaultOutput")
        yield _information("LEFT_TO_DEFAULT", str(at), message, witness)
    for failing in analysis.failing:
        message = (
            f"The rule '{failing.rule.id}' can't be answered for the witness, which is an EVALUATION_ERROR, "
            "never the default; guard it with EXISTS or let a schema forbid such values."
        )
        yield _information("ENDS_IN_ERROR", _condition_of(examined, failing.rule), message, failing.witness)


def _limits_of_the_analysis(
    examined: Examined, decision: DecisionDefinition, analysis: Analysis
) -> Iterator[Finding]:
    for rule in analysis.undecided:
        message = f"The rule '{rule.id}' compares two paths, so its overlaps are found at run time only."
        yield _information("UNDECIDED_RULE", _condition_of(examined, rule), message)
    place = str(examined.place_of(decision))
    if analysis.incomplete:
        message = (
            "The decision is too intricate to be analysed in full; other overlaps are found at run time."
        )
        yield _information("ANALYSIS_INCOMPLETE", place, message)
    if analysis.regions_left_out:
        message = "There are more regions that get the default or an error than are listed here."
        yield _information("REGIONS_LEFT_OUT", place, message)


def _condition_of(examined: Examined, rule: Rule) -> str:
    return str(examined.place_of(rule).child("when"))


def _information(code: str, pointer: str, message: str, witness: JsonObject | None = None) -> Finding:
    return Finding(
        code=code, pointer=pointer, message=message, severity=Severity.INFORMATION, witness=witness
    )
