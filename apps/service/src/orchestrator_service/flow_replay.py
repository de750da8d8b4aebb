"""`flow replay`: what really happened, decided by a version that isn't published yet. Reads only."""

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from attrs import define, field

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import FlowInvalid, InvalidInput, StorageUnavailable
from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.ready import ReadyFlow, ready_flow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.simulation.impact import Candidate
from orchestrator_domain.simulation.impact_document import impact_document
from orchestrator_domain.simulation.impact_example import Disclosure
from orchestrator_domain.simulation.impact_study import ImpactStudy, SharesAt
from orchestrator_domain.simulation.thresholds import Threshold, threshold_at
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.recorded_requests import RecordedPast, recorded_past
from orchestrator_service.authoring.progress import progress_bar
from orchestrator_service.authoring.screen import write_json
from orchestrator_service.authoring.sound_flow import sound_document
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.impact_chart import ShareCurve, impact_svg
from orchestrator_service.impact_report import tell_impact


def replay(chosen: argparse.Namespace) -> int:
    """Replay a database's past against a candidate; return 1 if anything would differ or couldn't be carried."""
    document = sound_document(chosen.flow)
    threshold, values = _threshold(chosen, document)
    candidate = Candidate(
        flow=ReadyFlow(definition=read_flow(document)), evaluate=CompiledDecisionEvaluator().evaluate
    )
    study = ImpactStudy(candidate=candidate, threshold=threshold, since=_moment(chosen))
    asyncio.run(_Replayed(study=study).read(chosen.database))
    shares = [*study.shares(values)]
    if chosen.chart is not None:
        _write(chosen.chart, impact_svg(study.tally.before, study.tally.after, _curve(study, shares)))
    disclosure = Disclosure.VALUES if chosen.values_shown else Disclosure.RULES
    if chosen.format == "json":
        write_json(impact_document(study, shares, disclosure=disclosure))
    else:
        tell_impact(study, shares, disclosure=disclosure)
    return int(bool(study.tally.different or study.tally.burdens))


@define(kw_only=True)
class _Replayed:
    """Take a database's past through a study."""

    study: ImpactStudy
    _flows: dict[FlowId, ReadyFlow] = field(factory=dict, init=False)

    async def read(self, url: str) -> None:
        """Read the requests of the candidate's flow key that have changed since then, whatever their version."""
        settings = ConnectionSettings(url=url, application_name="orchestrator-replay")
        key = self.study.candidate.flow.definition.flow_key
        async with recorded_past(settings) as past:
            with progress_bar("requests") as bar:
                if bar.shown:
                    bar.expect(await past.count(since=self.study.since, flow_key=key))
                async for recorded in past.requests(since=self.study.since, flow_key=key):
                    self.study.add(recorded, await self._pinned(past, recorded.request.flow.id))
                    bar.advance()

    async def _pinned(self, past: RecordedPast, flow_id: FlowId) -> ReadyFlow:
        if flow_id not in self._flows:
            stored = await past.flow(flow_id)
            assert stored is not None, "requests refer to their flow by a foreign key"
            try:
                self._flows[flow_id] = ready_flow(stored)
            except FlowInvalid:
                raise StorageUnavailable(
                    f"Version {stored.version} of the flow can't be read by this release; use the one that published it."
                ) from None
        return self._flows[flow_id]


def _threshold(
    chosen: argparse.Namespace, document: JsonObject
) -> tuple[Threshold | None, list[int | Decimal]]:
    if not chosen.vary:
        return None, []
    try:
        threshold = threshold_at(document, [Pointer.parse(place) for place in chosen.vary])
        values = sorted(set(map(_number, (chosen.values or "").split(","))))
    except (InvalidInput, InvalidPointer) as fault:
        place = f" at {fault.pointer}" if fault.pointer else ""
        raise UnusableFile(chosen.flow, f"--vary{place}: {fault.message}") from None
    except MalformedJson:
        message = "--values: Name the values of the literal as numbers, separated by commas."
        raise UnusableFile(chosen.flow, message) from None
    return threshold, values


def _number(text: str) -> int | Decimal:
    value = parse_json(text.strip())
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise MalformedJson("That is no number.")
    return value


def _moment(chosen: argparse.Namespace) -> datetime | None:
    if chosen.since is None:
        return None
    try:
        moment = datetime.fromisoformat(chosen.since)
    except ValueError:
        raise UnusableFile(
            chosen.flow, "--since: Write a date or time as 2030-01-31 or 2030-01-31T12:00Z."
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _curve(study: ImpactStudy, shares: Sequence[SharesAt]) -> ShareCurve | None:
    threshold = study.threshold
    if threshold is None:
        return None
    places = ", ".join(map(str, threshold.places))
    return ShareCurve(title=f"Shares of {threshold.decision} over {places}", points=shares)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise UnusableFile(path, f"The file can't be written ({fault.strerror or fault}).") from None
