"""`reconcile resolve`: send a resolution, or tell what it would do."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.reconciliation import (
    EVIDENCE_REFERENCE_CHARACTERS_MAX,
    EVIDENCE_TEXT_CHARACTERS_MAX,
)
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.reconcile.api_client import ApiClient, ApiUnusable

_REFUSED = 1


def resolve(api: ApiClient, path: str, chosen: argparse.Namespace) -> int:
    """Send the resolution under its key, or only look; return 1 where a dry run finds that it would be refused."""
    body = _body(chosen)
    if chosen.dry_run:
        return _tried_out(api.get(path), body, chosen.format)
    key = chosen.key or str(uuid4())
    if chosen.format == "text":
        # Before it is sent: this is what a repetition needs if no answer comes.
        show(f"Idempotency-Key {key}; if no answer comes, repeat the command with --key {key}")
    resolved = api.post(f"{path}/resolve", body, key=key)
    if chosen.format == "json":
        write_json(resolved)
    else:
        show(f"Resolved: the execution is {resolved['status']} now.")
    return 0


def hindrances(detail: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    """Tell why the API would refuse, as far as can be seen from here; nothing if it wouldn't."""
    action = detail["stoppedAction"]
    stopped = None if action is None else action["actionId"]
    if not detail["admits"]:
        return [f"The execution is {detail['status']} and doesn't wait for a resolution."]
    found = []
    if body["stop"] != detail["stop"]:
        found.append(
            f"The execution waits at stop {detail['stop']}; verify that one, and name it with --stop."
        )
    if body.get("actionId") != stopped:
        found.append(f"The action that stopped is {stopped or 'none'}; name it with --stopped-action.")
    if body["resolution"] not in detail["admits"]:
        found.append(f"This stop admits only {', '.join(detail['admits'])}.")
    return found + _broken_by_result(detail, body) + _broken_by_evidence(body["evidence"])


def effects(detail: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    """Tell in sentences what the resolution would do, and to which stop."""
    return [f"Stop {detail['stop']} would be resolved.", *_consequences(detail, body)]


def _consequences(detail: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    action = detail["stoppedAction"]
    match body["resolution"]:
        case "RESUME_WITH_RESULT":
            return [
                f"{action['actionId']} would count as done with this result; it is not called again.",
                "The execution would be PENDING, and a worker goes on behind the action.",
            ]
        case "RESUME_EFFECT_ABSENT":
            return [
                f"{action['actionId']} would be called again under {action['externalKey']}, with a fresh budget.",
                "If it did happen after all, it may happen twice.",
            ]
        case _:
            return [
                "The execution would end as FAILED.",
                f"Request {detail['requestId']} would be released in {detail['state']}, its data as before.",
            ]


def _body(chosen: argparse.Namespace) -> JsonObject:
    body: JsonObject = {
        "stop": chosen.stop,
        "resolution": chosen.resolution,
        "evidence": {"text": chosen.evidence, "reference": chosen.reference},
    }
    if chosen.stopped_action is not None:
        body["actionId"] = chosen.stopped_action
    if chosen.result is not None:
        body["result"] = _result(chosen.result)
    if ("result" in body) is not (chosen.resolution == "RESUME_WITH_RESULT"):
        raise ApiUnusable("--result belongs to RESUME_WITH_RESULT, and only to it.")
    return body


def _result(file: Path) -> JsonObject:
    try:
        value = parse_json(file.read_bytes())
    except OSError as fault:
        raise ApiUnusable(f"{file} can't be read ({type(fault).__name__}).") from None
    except MalformedJson as fault:
        raise ApiUnusable(f"{file} holds no JSON: {fault.message}") from None
    if not isinstance(value, dict):
        raise ApiUnusable(f"{file} must hold a JSON object.")
    return value


def _broken_by_result(detail: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    if "result" not in body:
        return []
    if detail["outputSchema"] is None:
        return ["The deployment lacks the action's contract, so the result can't be checked."]
    violations = compile_schema(detail["outputSchema"]).violations(body["result"])
    return [f"The result breaks its schema at {each.pointer or '/'}: {each.message}" for each in violations]


def _broken_by_evidence(evidence: Mapping[str, str]) -> list[str]:
    bounds = {"text": EVIDENCE_TEXT_CHARACTERS_MAX, "reference": EVIDENCE_REFERENCE_CHARACTERS_MAX}
    return [
        f"The evidence's {name} has to be 1 to {most} characters."
        for name, most in bounds.items()
        if not evidence[name].strip() or len(evidence[name]) > most
    ]


def _tried_out(detail: Mapping[str, Any], body: JsonObject, how: str) -> int:
    hindered = hindrances(detail, body)
    told = hindered or effects(detail, body)
    if how == "json":
        write_json({"wouldBeTaken": not hindered, "told": [*told]})
    else:
        for sentence in told:
            show((sentence, "red" if hindered else ""))
        show("Nothing was changed.")
    return _REFUSED if hindered else 0
