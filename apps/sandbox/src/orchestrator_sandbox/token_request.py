"""Get an access token from the sandbox's issuer."""

import json
from collections.abc import Sequence
from pathlib import Path

import httpx2

from orchestrator_sandbox.failure import SandboxFailure

_SECONDS = 10.0


def issued_token(
    issuer_url: str,
    *,
    subject: str,
    roles: Sequence[str],
    scopes: Sequence[str],
    expires_in_seconds: int = 3600,
) -> str:
    """Return a token for a subject; raise SandboxFailure when the issuer refuses or doesn't answer."""
    order = {
        "subject": subject,
        "roles": list(roles),
        "scopes": list(scopes),
        "expires_in": expires_in_seconds,
    }
    try:
        answer = httpx2.post(f"{issuer_url}/token", json=order, timeout=_SECONDS, trust_env=False)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SandboxFailure(
            f"No token issuer answers at {issuer_url}: start a sandbox with `orchestrator-sandbox up`."
        ) from error
    if answer.status_code != 200:
        raise SandboxFailure(f"The issuer at {issuer_url} refused: {_reason(answer)}")
    return str(answer.json()["access_token"])


def running_issuer(state_directory: Path) -> str:
    """Return the URL of the issuer that runs in a state directory; raise SandboxFailure when none does."""
    ready_file = state_directory / "ready.json"
    try:
        return str(json.loads(ready_file.read_text())["issuerUrl"])
    except FileNotFoundError:
        raise SandboxFailure(
            f"No sandbox runs in {state_directory}: start one with `orchestrator-sandbox up`, or name its "
            "directory with --state-dir."
        ) from None
    except OSError as error:
        raise SandboxFailure(f"{ready_file} can't be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError):
        raise SandboxFailure(f"{ready_file} is not what a sandbox writes: start the sandbox again.") from None


def _reason(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["error_description"])
    except (ValueError, KeyError, TypeError):
        return f"it answered {answer.status_code}."
