"""What a run of retention tells: counts, and nothing of what was in the rows."""

from collections import Counter
from collections.abc import Sequence

from attrs import define, field

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.request.erasure import RetentionRule
from orchestrator_postgres.retention import ErasureOutcome


@define(kw_only=True)
class RuleTally:
    """What one rule means, and what became of it."""

    rule: RetentionRule
    requests: int = field(default=0, init=False)
    rows: Counter[str] = field(factory=Counter, init=False)
    outcomes: Counter[ErasureOutcome] = field(factory=Counter, init=False)

    def add(self, requests: int, rows: Counter[str]) -> None:
        self.requests += requests
        # Counter's + would leave out the kinds of which there are none.
        self.rows.update(rows)

    @property
    def left(self) -> int:
        """Return how many were due and weren't erased, for somebody worked on them meanwhile."""
        return sum(count for outcome, count in self.outcomes.items() if outcome is not ErasureOutcome.ERASED)


def tell(tallies: Sequence[RuleTally], *, executed: bool, how: str) -> None:
    """Print one line for each rule, and in words for people what the run was."""
    for tally in tallies:
        print(
            dump_json(_as_json(tally, executed=executed))
            if how == "json"
            else _as_text(tally, executed=executed)
        )
    if how == "text" and not executed:
        print("This was a dry run: nothing was erased. The same command with --execute erases it.")


def _as_json(tally: RuleTally, *, executed: bool) -> JsonObject:
    return {
        "rule": tally.rule.name,
        "erase": [*sorted(part.value for part in tally.rule.erase)],
        "executed": executed,
        "requests": tally.requests,
        "rows": {_camel(name): count for name, count in sorted(tally.rows.items())},
        "outcomes": {outcome.value: count for outcome, count in sorted(tally.outcomes.items())},
    }


def _as_text(tally: RuleTally, *, executed: bool) -> str:
    rows = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in sorted(tally.rows.items()) if count
    )
    parts = ", ".join(sorted(tally.rule.erase))
    told = f"{tally.rule.name}: {tally.requests} requests are due ({parts}){': ' + rows if rows else ''}."
    if not executed:
        return told
    left = "".join(
        f", {count} {outcome.value.lower()}"
        for outcome, count in sorted(tally.outcomes.items())
        if outcome is not ErasureOutcome.ERASED
    )
    return f"{told} Erased: {tally.outcomes[ErasureOutcome.ERASED]}{left}."


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
