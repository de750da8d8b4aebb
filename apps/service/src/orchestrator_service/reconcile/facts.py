"""Tell an operator the facts of an execution, in lines."""

from collections.abc import Mapping
from typing import Any

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_service.authoring.screen import show


def tell_case(case: Mapping[str, Any]) -> None:
    """Print a case in two lines, which execution since when, and what stopped it; and what was asked, if anything was."""
    stop = "" if case["stop"] is None else f", stop {case['stop']}"
    flow = f"{case['flow']['flowKey']} v{case['flow']['version']}"
    show(
        (str(case["executionId"]), "bold"),
        f"  {case['errorCode'] or case['status']}  since {case['since']}{stop}",
    )
    show(f"    {flow}, {case['event']} in {case['state']}; {_action_in_words(case['stoppedAction'])}")
    if case["probes"] is not None:
        show(f"    {_probes_in_words(case['probes'])}")


def tell_detail(detail: Mapping[str, Any]) -> None:
    """Print everything that a decision needs."""
    tell_case(detail)
    show(f"    request {detail['requestId']} of type {detail['typeKey']} in scope {detail['businessScope']}")
    show(f"    status {detail['status']}, claimed {detail['claims']} times")
    show(f"    X-Correlation-Id {detail['correlationId']}")
    for action in detail["actions"]:
        _tell_action(action)
    if detail["outputSchema"] is not None and detail["admits"]:
        show(("    a result must satisfy: ", "dim"), dump_json(detail["outputSchema"]))
    for made in detail["resolutions"]:
        evidence = made["evidence"]
        show(f"    {made['createdAt']} {made['resolution']} by {made['operator']}: {evidence['reference']}")
        show(f"        {evidence['text']}")
    admitted = ", ".join(detail["admits"]) or "nothing: it doesn't wait for a resolution"
    show(("    admits ", "bold"), admitted)


def _tell_action(action: Mapping[str, Any]) -> None:
    uncertain = ", an effect is possible" if action["uncertain"] else ""
    show(f"    {action['actionId']}: {action['status']}, {action['effect']}{uncertain}")
    error = f", error {action['errorCode']}" if action["errorCode"] else ""
    show(f"        attempts {action['attempts']}, first {action['startedAt']}{error}")
    reference = action["providerReference"] or "none"
    show(f"        Idempotency-Key {action['externalKey']}, provider's reference {reference}")


def _probes_in_words(probes: Mapping[str, Any]) -> str:
    said = f"{probes['outcome']} at {probes['askedAt']}"
    if probes["outcome"] == "NOT_FOUND":
        # Whoever reads this is about to decide whether to run again.
        said += ", which proves no absence"
    return f"{probes['actionId']} was asked about {probes['asked']} times, last {said}"


def _action_in_words(action: Mapping[str, Any] | None) -> str:
    if action is None:
        return "no action stopped it"
    tried = "never tried" if action["status"] is None else f"{action['status']} after {action['attempts']}"
    return f"{action['actionId']} {tried} ({action['effect']}), key {action['externalKey']}"
