"""Drive one request through a running system, from the flow's publication to the worker's result.

`python -m tests.packaging.first_request API_URL ISSUER_URL` does so from a shell, against containers too.
"""

import json
import sys
from pathlib import Path
from typing import Any

import httpx2
from attrs import frozen

FLOW = Path(__file__).parents[2] / "examples" / "flows" / "credito-v1.json"
ROLES = ["SOLICITANTE", "ANALISTA", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN"]
ENDS = ("SUCCEEDED", "FAILED", "RECONCILIATION_REQUIRED")


@frozen
class Caller:
    """Somebody with every role of the example."""

    http: httpx2.Client
    api: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return the answer; anything but a success raises."""
        content = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.http.request(method, self.api + path, content=content, headers=named)
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.text}")
        return answer.json()


def first_request(api_url: str, issuer_url: str) -> dict[str, Any]:
    """Publish the example flow, create a request, send an event, and return the request after its execution."""
    order = {"subject": "ana", "roles": ROLES, "scopes": ["SUCURSAL-1"]}
    with httpx2.Client(timeout=60.0, trust_env=False) as http:
        token = http.post(f"{issuer_url}/token", json=order).json()["access_token"]
        http.headers |= {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        caller = Caller(http, f"{api_url}/api/v1")
        _publish(caller)
        made = caller.ask("POST", "/requests", {"typeKey": "CREDITO"}, Idempotency_Key="first-request")
        request = f"/requests/{made['requestId']}"
        event = {"event": "ASIGNAR_CLIENTE", "data": {"clienteId": "CLI-71"}}
        accepted = caller.ask(
            "POST", f"{request}/events", event, Idempotency_Key="first-event", If_Match='"0"'
        )
        _await_end(caller, f"/executions/{accepted['executionId']}")
        return dict(caller.ask("GET", request))


def _publish(caller: Caller) -> None:
    flow = caller.ask("POST", "/admin/flows", json.loads(FLOW.read_text(encoding="utf-8")))["flowId"]
    caller.ask("POST", f"/admin/flows/{flow}/publish")
    caller.ask("PUT", "/admin/request-types/CREDITO/active-flow", {"flowId": flow}, If_None_Match="*")


def _await_end(caller: Caller, execution: str) -> None:
    while caller.ask("GET", execution, Prefer="wait=5")["status"] not in ENDS:
        pass


if __name__ == "__main__":
    ended = first_request(sys.argv[1], sys.argv[2])
    print(json.dumps(ended))
    sys.exit(ended["state"] != "INE_PENDIENTE")
