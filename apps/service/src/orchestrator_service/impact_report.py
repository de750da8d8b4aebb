"""What people are told of a replay: counts and changes, examples with their traces, requests that couldn't be carried."""

from collections.abc import Sequence

from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.simulation.impact import Compared, Ending
from orchestrator_domain.simulation.impact_example import Disclosure, trace_lines
from orchestrator_domain.simulation.impact_study import ImpactStudy, SharesAt
from orchestrator_service.authoring.screen import show


def tell_impact(study: ImpactStudy, shares: Sequence[SharesAt], *, disclosure: Disclosure) -> None:
    """Print the report; values of requests are shown only when they are asked for."""
    tally, flow = study.tally, study.candidate.flow.definition
    show(
        f"{tally.compared} events of {tally.requests} requests compared; {tally.different} would come out otherwise."
    )
    if tally.untold:
        show(f"{tally.untold} can't be told, for the version asks for results that nobody recorded.")
    if tally.unreplayable:
        show(
            f"{tally.unreplayable} requests can't be replayed as recorded; 'orchestrator audit verify' tells why."
        )
    for (transition, before, after), count in sorted(tally.transitions.items()):
        show((f"  {transition}", "bold"), f": {before} → {after}, {count} times")
    for (decision, before, after), count in sorted(tally.rules.items()):
        show(f"  rules of {decision}: {before} → {after}, {count} times")
    for event in tally.examples:
        _tell_example(event, flow, disclosure)
    for reason, count in sorted(tally.burdens.items()):
        show((f"{count} requests under way couldn't be carried: {reason}", "bold red"))
    for request_id, reason in tally.burdened:
        show(f"  request {request_id}: {reason}")
    for value, counts in shares:
        told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        show(f"  threshold {value}: {told or 'no events'}")


def _tell_example(event: Compared, flow: FlowDefinition, disclosure: Disclosure) -> None:
    show(
        ("example ", "cyan"),
        f"execution {event.execution_id} of request {event.request_id}: "
        f"{_ending(event.before)} → {_ending(event.after)}" + (", other data" if event.data_differs else ""),
    )
    for line in trace_lines(event, flow, disclosure=disclosure):
        show(f"    {line}")


def _ending(ending: Ending) -> str:
    return ending.name if ending.state is None else f"{ending.name} in {ending.state}"
