"""`flow diff`."""

import argparse
from typing import Final

from orchestrator_domain.decision.case_document import expected_document
from orchestrator_domain.decision.difference import ChangedRegion
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import Absent, JsonObject
from orchestrator_domain.flow.difference import DecisionChange, FlowDifference, InputChange, flow_difference
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sources import read_definition

_STYLES: Final = {"added": "green", "removed": "red", "changed": "yellow"}
_SHOWN_MAX: Final = 500
_NOT_IN_FULL: Final = "not compared in full: rules compare paths, or there is too much to compare"


def compare(chosen: argparse.Namespace) -> int:
    """Tell what the new version changes; return 1 if anything."""
    difference = flow_difference(read_definition(chosen.old), read_definition(chosen.new))
    if chosen.format == "json":
        write_json(_as_json(difference))
    else:
        _to_people(difference)
    return int(not difference.is_empty)


def _to_people(difference: FlowDifference) -> None:
    for part in difference.parts:
        members = f" ({', '.join(part.members)})" if part.members else ""
        show((part.change, _STYLES[part.change]), f" {part.noun} {part.key}{members}")
    for change in difference.decisions:
        _decision_to_people(change)
    for change_of_input in difference.inputs:
        _input_to_people(change_of_input)
    if difference.is_empty:
        show("Nothing differs.")


def _decision_to_people(change: DecisionChange) -> None:
    show(("decision ", "bold"), f"{change.decision} answers differently:")
    for region in change.difference.regions:
        before, after = _answers(region)
        show(f"    {region.where}: ", (before, "red"), " → ", (after, "green"))
        show(("        witness: ", "dim"), dump_json(region.witness))
    if not change.difference.complete:
        show(f"    {_NOT_IN_FULL}")


def _input_to_people(change: InputChange) -> None:
    verb, style = ("starts", "green") if change.starts else ("stops", "red")
    show(("input ", "bold"), f"{change.place} ", (f"{verb} being accepted", style), ":")
    if change.values is None:
        show("    it can't be told exactly which values")
    elif len(written := dump_json(change.values)) <= _SHOWN_MAX:
        show("    values: ", written)
    else:
        show("    values: a long schema, which --format json shows")
    if not isinstance(change.example, Absent):
        show(("    example: ", "dim"), dump_json(change.example))


def _answers(region: ChangedRegion) -> tuple[str, str]:
    before, after = expected_document(region.before), expected_document(region.after)
    return ", ".join(map(str, before.values())), ", ".join(map(str, after.values()))


def _as_json(difference: FlowDifference) -> JsonObject:
    return {
        "parts": [
            {"noun": part.noun, "key": part.key, "change": part.change, "members": [*part.members]}
            for part in difference.parts
        ],
        "decisions": [_decision_as_json(change) for change in difference.decisions],
        "inputs": [_input_as_json(change) for change in difference.inputs],
    }


def _decision_as_json(change: DecisionChange) -> JsonObject:
    return {
        "decision": change.decision,
        "complete": change.difference.complete,
        "regions": [
            {
                "where": region.where,
                "before": expected_document(region.before),
                "after": expected_document(region.after),
                "witness": region.witness,
            }
            for region in change.difference.regions
        ],
    }


def _input_as_json(change: InputChange) -> JsonObject:
    told: JsonObject = {
        "place": change.place,
        "change": "starts" if change.starts else "stops",
        "values": change.values,
    }
    if not isinstance(change.example, Absent):
        told["example"] = change.example
    return told
