"""How long an author waits, on a machine of his own, for the findings of the largest flow."""

from functools import partial

from bench.figure import Figure, Measured, ValueAtMost
from bench.largest_flow import largest_flow, resolve_contract
from bench.sample import alternately, processor_milliseconds
from orchestrator_domain.flow.findings import Severity
from orchestrator_domain.flow.soundness import FlowSoundness


def _measure() -> Measured:
    document = largest_flow()
    soundness = FlowSoundness(resolve_contract=resolve_contract)
    report = soundness.validate(document)
    if any(finding.severity is not Severity.INFORMATION for finding in report.findings):
        raise AssertionError("the largest flow is not sound, so validating it says little")
    validate = partial(processor_milliseconds, lambda: soundness.validate(document))
    return Measured(value=alternately({"ours": validate}, rounds=3)["ours"])


FIGURES = (Figure(name="validation-at-limits", unit="ms", target=ValueAtMost(1_000), measure=_measure),)
