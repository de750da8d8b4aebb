"""Run one of the commands `reconcile …`."""

import argparse
import sys
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.reconcile.api_client import ApiClient, ApiUnusable, Refused
from orchestrator_service.reconcile.facts import tell_case, tell_detail
from orchestrator_service.reconcile.resolve import resolve

_REFUSED, _UNUSABLE = 1, 2


def run_operator_command(chosen: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Return the exit code: 1 if the API refuses, 2 if nothing could be asked."""
    try:
        return _run(chosen, ApiClient.of(variables))
    except Refused as refusal:
        print(f"{refusal.problem_code}: {refusal.message}", file=sys.stderr)
        return _REFUSED
    except ApiUnusable as unusable:
        print(f"{unusable.code}: {unusable.message}", file=sys.stderr)
        return _UNUSABLE


def execution_path(execution: str) -> str:
    """Return the path of an execution; raise ApiUnusable for what is no id."""
    try:
        return f"/admin/executions/{UUID(execution)}"
    except ValueError:
        raise ApiUnusable("An execution is named by its id, a UUID.") from None


def _run(chosen: argparse.Namespace, api: ApiClient) -> int:
    match chosen.action:
        case "list":
            return _list(api, chosen.status, chosen.format)
        case "show":
            return _show(api, chosen)
        case _:
            return resolve(api, execution_path(chosen.execution), chosen)


def _list(api: ApiClient, status: str, how: str) -> int:
    """Tell every case, page after page."""
    told, cursor = 0, None
    while True:
        page: Any = api.get(f"/admin/executions?status={status}" + (f"&cursor={cursor}" if cursor else ""))
        for case in page["items"]:
            _tell_listed(case, how)
        told += len(page["items"])
        cursor = page["nextCursor"]
        if cursor is None:
            break
    if how == "text":
        show(f"{told} in {status}.")
    return 0


def _tell_listed(case: JsonObject, how: str) -> None:
    if how == "json":
        write_json(case)
    else:
        tell_case(case)


def _show(api: ApiClient, chosen: argparse.Namespace) -> int:
    detail = api.get(execution_path(chosen.execution))
    if chosen.format == "json":
        write_json(detail)
    else:
        tell_detail(detail)
    return 0
