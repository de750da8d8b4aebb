"""`retention run`: find what a policy or a demand means, tell it, and erase it where that was asked for."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from attrs import frozen

from orchestrator_domain.errors import InvalidInput, NotFound
from orchestrator_domain.identifiers import AuditEntryId, RequestId
from orchestrator_domain.request.erasure import (
    EVERYTHING,
    Erasure,
    PersonalData,
    RetentionRule,
    erasure_fact,
    read_policy,
)
from orchestrator_postgres.retention import Due, ErasureOutcome, PostgresRetention, opened_retention
from orchestrator_service.authoring.progress import ProgressBar, progress_bar
from orchestrator_service.authoring.sources import FaultyFile, read_source
from orchestrator_service.retention.report import RuleTally, tell
from orchestrator_service.settings import read_retention_url
from orchestrator_service.system_identifiers import SystemIdentifiers

_ON_DEMAND: Final = "on-demand"


def run_retention(chosen: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Carry out one run; return 1 if something that is due was left. Raises OrchestratorError before anything is done."""
    if chosen.execute and chosen.dry_run:
        raise InvalidInput("--execute and --dry-run exclude one another.")
    rules, only = _wanted(chosen)
    url = read_retention_url(variables)
    tallies = asyncio.run(_run(url, rules, only, chosen))
    tell(tallies, executed=chosen.execute, how=chosen.format)
    return int(any(tally.left for tally in tallies))


def _wanted(chosen: argparse.Namespace) -> tuple[Sequence[RetentionRule], RequestId | None]:
    if chosen.policy is not None:
        if chosen.erase or chosen.open_requests or chosen.reference:
            raise InvalidInput(
                "--erase, --open-requests and --reference go with --request; a policy has its own."
            )
        return _policy(chosen.policy), None
    try:
        only = RequestId(UUID(chosen.request))
    except ValueError:
        raise InvalidInput("--request takes the id of a request, a UUID.") from None
    erase = frozenset(map(PersonalData, chosen.erase)) if chosen.erase else EVERYTHING
    return [
        RetentionRule(name=_ON_DEMAND, after_days=0, erase=erase, open_requests=chosen.open_requests)
    ], only


def _policy(path: Path) -> Sequence[RetentionRule]:
    source = read_source(path)
    try:
        return read_policy(source.document)
    except InvalidInput as fault:
        raise FaultyFile(
            path,
            [
                (source.positions.of(pointer), f"No retention policy has this at {pointer or '/'}: {told}")
                for pointer, told in fault.violations
            ],
        ) from None


async def _run(
    url: str, rules: Sequence[RetentionRule], only: RequestId | None, chosen: argparse.Namespace
) -> Sequence[RuleTally]:
    identifiers = SystemIdentifiers()
    async with opened_retention(url) as retention:
        with progress_bar("requests") as bar:
            run = _Run(
                retention=retention,
                identifiers=identifiers,
                id=str(identifiers.uuid()),
                batch=chosen.batch,
                executes=chosen.execute,
                reference=chosen.reference,
                bar=bar,
            )
            tallies = [await run.carry_out(rule, only) for rule in rules]
        if only is not None and not tallies[0].requests:
            raise NotFound(await _why_nothing_is_due(retention, only, rules[0]))
    return tallies


@frozen(kw_only=True)
class _Run:
    """One run over rules; nothing is kept of it between batches, so that another run can take it up."""

    retention: PostgresRetention
    identifiers: SystemIdentifiers
    id: str
    batch: int
    executes: bool
    reference: str | None
    bar: ProgressBar

    async def carry_out(self, rule: RetentionRule, only: RequestId | None) -> RuleTally:
        """Go through what the rule means, batch by batch."""
        tally = RuleTally(rule=rule)
        after: RequestId | None = None
        while due := await self.retention.due(rule, limit=self.batch, after=after, only=only):
            tally.add(len(due), await self.retention.counts(due))
            if self.executes:
                tally.outcomes += await self._erase(rule, due, named=None if only else rule.name)
            for _ in due:
                self.bar.advance()
            after = due[-1].id
        return tally

    async def _erase(
        self, rule: RetentionRule, due: Sequence[Due], *, named: str | None
    ) -> Counter[ErasureOutcome]:
        why = Erasure(run=self.id, rule=named, reference=self.reference)
        facts = [
            (
                each,
                erasure_fact(
                    rule.erase - each.erased,
                    why,
                    flow_id=each.flow_id,
                    entry_id=AuditEntryId(self.identifiers.uuid()),
                    salt=self.identifiers.salt(),
                ),
            )
            for each in due
        ]
        outcomes = await self.retention.erase(facts, open_requests=rule.open_requests)
        return Counter(outcomes.values())


async def _why_nothing_is_due(retention: PostgresRetention, only: RequestId, rule: RetentionRule) -> str:
    standing = await retention.standing(only)
    if standing is None:
        return "There is no such request."
    if standing.blocked:
        return "An execution blocks this request: let it end, or resolve it, first."
    if rule.erase <= standing.erased:
        return "What is to be erased of this request is erased already."
    return "This request is short of an end state; --open-requests erases it all the same, and it takes no more events."
