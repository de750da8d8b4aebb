"""One check's answer."""

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject


class Health(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAULT = "fault"


@frozen(kw_only=True)
class Finding:
    """What a check found, in one sentence, and what to do; no secret and nothing of any request."""

    check: str
    health: Health
    says: str
    remedy: str | None = None


def ok(check: str, says: str) -> Finding:
    return Finding(check=check, health=Health.OK, says=says)


def warn(check: str, says: str, remedy: str) -> Finding:
    return Finding(check=check, health=Health.WARN, says=says, remedy=remedy)


def fault(check: str, says: str, remedy: str) -> Finding:
    return Finding(check=check, health=Health.FAULT, says=says, remedy=remedy)


def tell(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print the findings in the order in which they were made."""
    if as_json:
        print(dump_json({"healthy": is_healthy(findings), "checks": [_as_json(each) for each in findings]}))
        return
    for each in findings:
        print(f"{each.health.value:<6} {each.check:<14} {each.says}")
        if each.remedy is not None:
            print(f"{'':<21} → {each.remedy}")


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Say whether nothing is at fault; a warning is none."""
    return all(each.health is not Health.FAULT for each in findings)


def _as_json(finding: Finding) -> JsonObject:
    return {
        "check": finding.check,
        "health": finding.health.value,
        "says": finding.says,
        "remedy": finding.remedy,
    }
