"""The page of execution errors: the codes that an execution may end, wait or stop with."""

from collections.abc import Mapping
from typing import Final

from tools.reference.wording import code, page, table

_HEAD = """\
An event that was accepted and can't be carried out is told by the `errorCode` of its execution, and by `status` what that
means: RETRY_WAIT goes on by itself, FAILED has left nothing behind and released the request, RECONCILIATION_REQUIRED waits
for an operator ([Reconciliation](../RECONCILIATION.md)). Which of the three follows from a code depends on the effect of the
action, on the attempts that are left, and on what was written before; [Integrations](../INTEGRATIONS.md#what-an-attempt-comes-to)
has the table. Codes are stable, and none of them comes with personal data."""

EXECUTION_ERRORS: Final[Mapping[str, Mapping[str, str]]] = {
    "The call of an action": {
        "PROVIDER_UNREACHABLE": "No connection came about, so nothing was sent. It is tried again.",
        "PROVIDER_TIMEOUT": "No whole answer came within the budget of the attempt. Of a write nobody knows what it did.",
        "PROVIDER_UNAVAILABLE": "The provider said that it can't now (408, 425, 429, 502, 503, 504, or what its contract lists).",
        "PROVIDER_REJECTED": "The provider refused, in a way that its contract gives no other meaning.",
        "PROVIDER_AUTHENTICATION": "The provider, or the server of its tokens, refused our credentials.",
        "PROVIDER_ADDRESS_REFUSED": "The address of the provider may not be called from here (`allowedNetworks`, `allowPlainHttp`).",
        "CONTRACT_VIOLATION": "The answer breaks its contract: no JSON, too large, or against the output schema.",
        "CIRCUIT_OPEN": "The provider kept failing, so it is left alone for a while. No attempt is counted at first.",
        "INTEGRATION_BUSY": "As many calls as are allowed were under way. No attempt is counted at first.",
        "INTEGRATION_UNAVAILABLE": "The deployment has no such integration or version, or its secret or address can't be had.",
        "INPUT_REFUSED": "The inputs can't be put into the call that the contract describes.",
        "HANDLER_FAILED": "A handler of the host raised; what it had done is unknown.",
        "HANDLER_BUSY": "A handler of the host had no thread to begin in.",
        "ATTEMPTS_EXHAUSTED": "The attempts were used up, and no code of the last one was kept.",
        "EFFECT_UNKNOWN": "The worker died during a write that must not be repeated.",
    },
    "Questions about a lost call": {
        "EFFECT_CONFIRMED": "The provider knows of the write and of its result; the execution goes on at once.",
        "PROBE_KEY_MISMATCH": "What the provider told was about another call. It is told in the history, and confirms nothing.",
    },
    "Documents": {
        "DOCUMENT_NOT_SCANNED": "The document service has not finished its search for malware. It is asked again.",
        "DOCUMENT_REFUSED": "The document is unknown, or not of this request, its scope or its owner. It is not linked.",
    },
    "Decisions and data": {
        "AMBIGUOUS_DECISION": "More than one rule of a UNIQUE decision matched.",
        "EVALUATION_ERROR": "A condition, an input or an update read what isn't there, or what it can't compare.",
        "INPUT_CONTRACT_VIOLATION": "The inputs of an action break the schema of its contract.",
        "DATA_SCHEMA_VIOLATION": "The request's data would break the schema of its flow.",
        "DATA_TOO_LARGE": "The request's data would be larger than REQUEST_DATA_BYTES_MAX.",
    },
    "The run itself": {
        "CHECKPOINT_MISMATCH": "What was stored of an action isn't what this run would have asked; it goes no further.",
        "REQUEST_MOVED": "The request isn't in the state or revision that the event was accepted for.",
        "CLAIMS_EXHAUSTED": "Workers took it again and again and died, or gave up, without getting on.",
        "CLOSED_WITHOUT_TRANSITION": "An operator closed it, having verified that no effect is left.",
    },
}


def execution_errors_page() -> str:
    """Return the page."""
    parts = [
        f"## {group}\n\n"
        + table(("code", "meaning"), ((code(name), told) for name, told in meanings.items()))
        for group, meanings in EXECUTION_ERRORS.items()
    ]
    return page("Execution errors", _HEAD, *parts)
