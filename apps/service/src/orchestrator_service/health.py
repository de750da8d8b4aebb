"""`orchestrator health`: ask the process on this machine how it is, for supervisors that can only run a command."""

import ssl
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final

from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.settings import Listener, health_listener_from

_SECONDS_MAX: Final = 3.0
# A listener on all addresses is asked on this machine's own.
_OWN: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- nothing is bound here


def ask_health(variables: Mapping[str, str], question: str) -> int:
    """Ask `/health/ready` or `/health/live` where the settings say it is served; return 0 if it answers 200, else 1."""
    environment = Environment(variables)
    listener = health_listener_from(environment)
    environment.check(
        that=listener.port > 0,
        otherwise="Neither MANAGEMENT_PORT nor LISTEN_PORT names a port that could be asked.",
    )
    if environment.faults:
        raise SettingsInvalid(tuple(environment.faults))
    answer = _status(listener, f"/health/{question}")
    print(answer, file=sys.stdout if answer == "200" else sys.stderr)
    return 0 if answer == "200" else 1


def _status(listener: Listener, path: str) -> str:
    connection = _connection(listener)
    try:
        connection.request("GET", path)
        return str(connection.getresponse().status)
    except (OSError, HTTPException) as fault:
        return f"No answer ({type(fault).__name__})."
    finally:
        connection.close()


def _connection(listener: Listener) -> HTTPConnection:
    host = _OWN.get(listener.host, listener.host)
    if listener.tls is None:
        return HTTPConnection(host, listener.port, timeout=_SECONDS_MAX)
    # The certificate is in the name that callers know, not in that of this machine's own address; nothing is sent
    # that somebody else mustn't read.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return HTTPSConnection(host, listener.port, timeout=_SECONDS_MAX, context=context)
