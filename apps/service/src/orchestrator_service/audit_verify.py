"""`audit verify`: replay recorded decisions against the versions that they were pinned to, and check every chain."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from typing import Final

from attrs import define, field

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.flow.ready import ReadyFlow, ready_flow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.simulation.recorded import Disagreement, RecordedRequest, Verification, verified
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.recorded_requests import RecordedPast, recorded_past
from orchestrator_service.authoring.progress import progress_bar

_ABOUT_MISSING: Final = "The pinned flow version is missing or can't be read by this release."
_ABOUT_CHECKSUM: Final = "The pinned flow version doesn't have the checksum that it was published with."


def verify_audit(chosen: argparse.Namespace) -> int:
    """Verify every request of a database; return 1 if one doesn't hold. Raises DatabaseUnreachable, StorageUnavailable."""
    return asyncio.run(_verify(chosen.database, chosen.format))


async def _verify(url: str, how: str) -> int:
    tally = _Tally()
    async with recorded_past(ConnectionSettings(url=url, application_name="orchestrator-audit")) as past:
        verifier = _Verifier(past=past)
        with progress_bar("requests") as bar:
            if bar.shown:
                bar.expect(await past.count())
            async for recorded in past.requests():
                found = await verifier.verification(recorded)
                tally.add(found)
                if not found.holds:
                    _tell(found, how)
                bar.advance()
    print(dump_json(tally.as_json()) if how == "json" else tally.as_text())
    return int(tally.faulty > 0)


@define(kw_only=True)
class _Tally:
    """Count what was verified."""

    requests: int = field(default=0, init=False)
    faulty: int = field(default=0, init=False)
    verified: int = field(default=0, init=False)
    erased: int = field(default=0, init=False)
    requests_erased: int = field(default=0, init=False)

    def add(self, found: Verification) -> None:
        self.requests += 1
        self.faulty += not found.holds
        self.verified += found.verified
        self.erased += found.erased
        self.requests_erased += bool(found.parts_erased)

    def as_json(self) -> JsonObject:
        return {
            "requests": self.requests,
            "faulty": self.faulty,
            "decisionsVerified": self.verified,
            "decisionsErased": self.erased,
            "requestsErased": self.requests_erased,
        }

    def as_text(self) -> str:
        erased = f", {self.erased} can't be, for what they rest on is erased" if self.erased else ""
        return (
            f"{self.requests} requests, {self.faulty} of them faulty; "
            f"{self.verified} decisions are verified{erased}."
        )


@define(kw_only=True)
class _Verifier:
    past: RecordedPast
    _evaluator: CompiledDecisionEvaluator = field(factory=CompiledDecisionEvaluator, init=False)
    _flows: dict[FlowId, ReadyFlow | str] = field(factory=dict, init=False)

    async def verification(self, recorded: RecordedRequest) -> Verification:
        flow = await self._flow(recorded.request.flow.id)
        if isinstance(flow, str):
            about = (Disagreement(about=flow),)
            return Verification(request_id=recorded.request.id, disagreements=about)
        return verified(recorded, flow, evaluate=self._evaluator.evaluate)

    async def _flow(self, flow_id: FlowId) -> ReadyFlow | str:
        if flow_id not in self._flows:
            self._flows[flow_id] = _ready(await self.past.flow(flow_id))
        return self._flows[flow_id]


def _ready(stored: StoredFlow | None) -> ReadyFlow | str:
    """Return the flow, or what is wrong with it."""
    if stored is None:
        return _ABOUT_MISSING
    if stored.checksum != sha256_hex(stored.document):
        return _ABOUT_CHECKSUM
    try:
        return ready_flow(stored)
    except FlowInvalid:
        return _ABOUT_MISSING


def _tell(found: Verification, how: str) -> None:
    for fault in _faults(found):
        if how == "json":
            print(dump_json({"requestId": str(found.request_id), **fault}))
        else:
            place = " ".join(f"{name} {value}" for name, value in fault.items() if name != "about")
            print(f"request {found.request_id} {place}: {fault['about']}".replace(" :", ":"))
    sys.stdout.flush()


def _faults(found: Verification) -> Iterator[JsonObject]:
    if found.broken is not None:
        yield {"entry": found.broken.sequence, "about": found.broken.reason}
    for each in found.disagreements:
        execution: JsonObject = {} if each.execution_id is None else {"execution": str(each.execution_id)}
        yield {**execution, "about": each.about}
