"""What `complete` promises beyond the fence."""

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.errors import CheckpointMoved
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import Completion, DocumentLink
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import ActionKey, Sha256Hex
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import LENT
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of

RUNNING_ONCE = (CheckpointStatus.RUNNING, 1)
PHOTO = DocumentLink(
    document_type="PHOTO",
    storage_document_id="photo-1",
    mime_type="image/png",
    size_bytes=1024,
    checksum="b" * 64,
)


class CompletingContract:
    async def test_a_completion_moves_the_request_and_ends_the_execution_with_its_result(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await _complete(cases, claimed)
        seen = await cases.seen(claimed.request.id)
        assert (seen.request.state, seen.request.data) == (LENT.state, LENT.data)
        assert (seen.request.revision, seen.active_execution) == (claimed.request.revision + 1, None)
        execution = await cases.seen_execution(claimed.execution.id)
        assert (execution.status, execution.result) == (ExecutionStatus.SUCCEEDED, LENT.result)

    async def test_a_completion_stores_the_last_success_with_the_transition(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        done = await _started(cases, claimed)
        last = write_of(done, cases.identifiers, before=RUNNING_ONCE)
        await _complete(cases, claimed, writes=[last], succeeded=[done])
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert (stored.status, stored.result) == (CheckpointStatus.SUCCEEDED, done.result)
        assert (await cases.seen(claimed.request.id)).request.state == LENT.state

    async def test_a_completion_accepts_a_success_that_an_earlier_claim_stored(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        first = await cases.claimed()
        done = await _started(cases, first)
        await harness.queue().checkpoint(
            first.fence, [write_of(done, cases.identifiers, before=RUNNING_ONCE)]
        )
        second = await cases.lost(first)
        await _complete(cases, second, succeeded=second.checkpoints)
        assert (await cases.seen(first.request.id)).request.state == LENT.state

    async def test_a_completion_needs_every_checkpoint_to_be_stored(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        done = await _started(cases, claimed)
        last = write_of(done, cases.identifiers, before=RUNNING_ONCE)
        absent = evolve(done, action=ActionKey("shelve"))
        await _is_refused_whole(cases, claimed, writes=[last], succeeded=[done, absent])

    async def test_a_completion_needs_every_checkpoint_to_have_succeeded(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        done = await _started(cases, claimed)
        await _is_refused_whole(cases, claimed, succeeded=[done])

    @pytest.mark.parametrize(
        "changes",
        [
            {"external_key": "another-key"},
            {"input_hash": Sha256Hex("c" * 64)},
            {"effect": Effect.IDEMPOTENT_WRITE},
        ],
    )
    async def test_a_completion_needs_the_same_key_input_hash_and_effect(
        self, harness: StoreHarness, changes: dict[str, Any]
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        done = await _started(cases, claimed)
        last = write_of(done, cases.identifiers, before=RUNNING_ONCE)
        different = evolve(done, **changes)
        await _is_refused_whole(cases, claimed, writes=[last], succeeded=[different])

    async def test_after_a_refused_completion_the_checkpoint_alone_can_still_be_stored(
        self, harness: StoreHarness
    ) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        done = await _started(cases, claimed)
        last = write_of(done, cases.identifiers, before=RUNNING_ONCE)
        absent = evolve(done, action=ActionKey("shelve"))
        await _is_refused_whole(cases, claimed, writes=[last], succeeded=[done, absent])
        await harness.queue().checkpoint(claimed.fence, [last])
        (stored,) = await harness.checkpoints(claimed.execution.id)
        assert stored.status is CheckpointStatus.SUCCEEDED

    async def test_a_completion_links_its_documents(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await _complete(cases, claimed, completion=evolve(LENT, documents=(PHOTO,)))
        assert list(await harness.documents(claimed.request.id)) == [PHOTO]

    async def test_a_completed_request_takes_another_event(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        claimed = await cases.claimed()
        await _complete(cases, claimed)
        completed = (await cases.seen(claimed.request.id)).request
        second = await cases.accepted(completed, key="check-2")
        again = await cases.claim()
        assert (again.execution.id, again.request) == (
            second.id,
            (await cases.seen(claimed.request.id)).request,
        )


async def _started(cases: StoredCases, claimed: ClaimedExecution) -> Checkpoint:
    """Store the start of the action, and return the success that it comes to."""
    running = checkpoint_of(claimed.execution.id)
    await cases.harness.queue().checkpoint(claimed.fence, [write_of(running, cases.identifiers)])
    return evolve(running, status=CheckpointStatus.SUCCEEDED, result={"found": True, "shelf": "A3"})


async def _complete(
    cases: StoredCases,
    claimed: ClaimedExecution,
    *,
    completion: Completion = LENT,
    writes: Sequence[CheckpointWrite] = (),
    succeeded: Sequence[Checkpoint] = (),
) -> None:
    fact = cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    await cases.harness.queue().complete(
        claimed.fence, completion, writes=writes, succeeded=succeeded, fact=fact
    )


async def _is_refused_whole(
    cases: StoredCases,
    claimed: ClaimedExecution,
    *,
    writes: Sequence[CheckpointWrite] = (),
    succeeded: Sequence[Checkpoint] = (),
) -> None:
    with_document = evolve(LENT, documents=(PHOTO,))
    history = list(await cases.harness.history(claimed.request.id))
    with pytest.raises(CheckpointMoved):
        await _complete(cases, claimed, completion=with_document, writes=writes, succeeded=succeeded)
    seen = await cases.seen(claimed.request.id)
    assert (seen.request, seen.active_execution) == (claimed.request, claimed.execution.id)
    statuses = {one.status for one in await cases.harness.checkpoints(claimed.execution.id)}
    assert statuses == {CheckpointStatus.RUNNING}
    assert list(await cases.harness.history(claimed.request.id)) == history
    assert not await cases.harness.documents(claimed.request.id)
