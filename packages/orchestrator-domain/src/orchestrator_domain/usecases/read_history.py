"""Read what has happened to a request, page by page."""

from attrs import evolve, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.errors import NotFound
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.ports.history import EVERY_ENTRY, HistoryFilter
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.usecases.page import Page, page_of
from orchestrator_domain.usecases.permissions import AUDITOR

PAGE_MAX = 100


@frozen(kw_only=True)
class HistoryShown:
    """A page of entries; `with_detail` says whether this actor may see reasons and rule ids (AUDITOR)."""

    page: Page[AuditEntry, int]
    with_detail: bool


@frozen(kw_only=True)
class ReadHistory:
    """Answer reads; the history of a request that isn't visible doesn't exist (NotFound)."""

    unit_of_work: UnitOfWork

    async def __call__(
        self,
        request_id: RequestId,
        actor: Actor,
        *,
        wanted: HistoryFilter = EVERY_ENTRY,
        after: int = 0,
        limit: int = PAGE_MAX,
    ) -> HistoryShown:
        """Return at most `limit` entries behind the sequence `after`; without AUDITOR their details are cut off."""
        assert 1 <= limit <= PAGE_MAX, "a page has a bound"

        async def story(work: Transaction) -> HistoryShown:
            found = await work.history.entries(request_id, actor, wanted=wanted, after=after, limit=limit + 1)
            if found is None:
                raise NotFound("There is no such request.")
            with_detail = actor.holds_any(frozenset({AUDITOR}))
            seen = [entry if with_detail else evolve(entry, detail=None, salt=None) for entry in found]
            page = page_of(seen, limit=limit, position=lambda entry: entry.sequence)
            return HistoryShown(page=page, with_detail=with_detail)

        return await self.unit_of_work.run(story)
