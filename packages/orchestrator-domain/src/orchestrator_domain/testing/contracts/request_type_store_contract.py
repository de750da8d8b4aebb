"""What the port RequestTypeStore promises."""

import pytest

from orchestrator_domain.errors import RevisionMismatch
from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import RequestTypeKey, Revision
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import TYPE_KEY, admin_fact, request_type

TYPE_ADDED = admin_fact("TYPE_ADDED", type_key=TYPE_KEY)
TYPE_SAVED = admin_fact("TYPE_SAVED", type_key=TYPE_KEY)


class RequestTypeStoreContract:
    async def test_a_type_is_found_as_it_was_added(self, harness: StoreHarness) -> None:
        flow = await StoredCases(harness=harness).published_flow()
        assert await _added(harness, request_type(flow)) is True
        assert await _found(harness) == request_type(flow)

    async def test_a_type_without_an_active_flow_can_be_kept(self, harness: StoreHarness) -> None:
        empty = RequestType(key=TYPE_KEY, active_flow=None, enabled=False, revision=Revision(0))
        assert await _added(harness, empty) is True
        assert await _found(harness) == empty

    async def test_an_unknown_type_is_none_however_it_is_asked_for(self, harness: StoreHarness) -> None:
        unknown = RequestTypeKey("UNKNOWN")

        async def story(transaction: Transaction) -> list[RequestType | None]:
            types = transaction.request_types
            return [await read(unknown) for read in (types.find, types.lock_shared, types.lock)]

        assert await harness.unit_of_work().run(story) == [None, None, None]

    async def test_a_locked_type_reads_like_a_found_one(self, harness: StoreHarness) -> None:
        added = request_type(await StoredCases(harness=harness).published_flow())
        await _added(harness, added)

        async def story(transaction: Transaction) -> list[RequestType | None]:
            types = transaction.request_types
            return [await types.lock_shared(TYPE_KEY), await types.lock(TYPE_KEY)]

        assert await harness.unit_of_work().run(story) == [added, added]

    async def test_a_key_that_exists_already_is_not_added_again(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        first, second = await cases.published_flow(version=1), await cases.published_flow(version=2)
        await _added(harness, request_type(first))
        facts = list(await harness.admin_facts())
        assert await _added(harness, request_type(second)) is False
        assert await _found(harness) == request_type(first)
        assert list(await harness.admin_facts()) == facts

    async def test_an_activation_is_stored_with_its_new_revision(self, harness: StoreHarness) -> None:
        cases = StoredCases(harness=harness)
        first, second = await cases.published_flow(version=1), await cases.published_flow(version=2)
        await _added(harness, request_type(first))
        activated = request_type(first).activated(second.id)
        assert await _saved(harness, activated, before=Revision(0)) == activated
        assert await _found(harness) == activated

    async def test_types_are_listed_by_code_points_of_the_key_from_behind_a_key_on(
        self, harness: StoreHarness
    ) -> None:
        for key in ("b", "A_B", "LENDING", "A-B"):
            await _added(harness, _empty(key))
        pages = {
            (None, 100): ["A-B", "A_B", "LENDING", "b"],
            (None, 2): ["A-B", "A_B"],
            ("A_B", 2): ["LENDING", "b"],
            ("AZ", 1): ["A_B"],
            ("b", 2): [],
        }
        for (after, limit), expected in pages.items():
            assert await _listed(harness, after, limit) == [_empty(key) for key in expected]

    async def test_a_type_can_be_switched_off(self, harness: StoreHarness) -> None:
        added = request_type(await StoredCases(harness=harness).published_flow())
        await _added(harness, added)
        await _saved(harness, added.switched(enabled=False), before=added.revision)
        assert await _found(harness) == added.switched(enabled=False)

    async def test_a_save_from_a_revision_that_moved_is_refused_and_names_the_current_one(
        self, harness: StoreHarness
    ) -> None:
        added = request_type(await StoredCases(harness=harness).published_flow())
        await _added(harness, added)
        disabled = await _saved(harness, added.switched(enabled=False), before=added.revision)
        facts = list(await harness.admin_facts())
        with pytest.raises(RevisionMismatch) as caught:
            await _saved(harness, added.switched(enabled=True), before=added.revision)
        assert caught.value.current == disabled.revision
        assert await _found(harness) == disabled
        assert list(await harness.admin_facts()) == facts

    async def test_every_change_is_written_together_with_its_fact(self, harness: StoreHarness) -> None:
        empty = RequestType(key=TYPE_KEY, active_flow=None, enabled=True, revision=Revision(0))
        await _added(harness, empty)
        await _saved(harness, empty.switched(enabled=False), before=empty.revision)
        assert list(await harness.admin_facts()) == [TYPE_ADDED, TYPE_SAVED]


async def _added(harness: StoreHarness, added: RequestType) -> bool:
    async def story(transaction: Transaction) -> bool:
        fact = admin_fact("TYPE_ADDED", type_key=added.key)
        return await transaction.request_types.add(added, fact)

    return await harness.unit_of_work().run(story)


async def _saved(harness: StoreHarness, saved: RequestType, *, before: Revision) -> RequestType:
    async def story(transaction: Transaction) -> RequestType:
        return await transaction.request_types.save(saved, before=before, fact=TYPE_SAVED)

    return await harness.unit_of_work().run(story)


async def _found(harness: StoreHarness) -> RequestType | None:
    async def story(transaction: Transaction) -> RequestType | None:
        return await transaction.request_types.find(TYPE_KEY)

    return await harness.unit_of_work().run(story)


def _empty(key: str) -> RequestType:
    return RequestType(key=RequestTypeKey(key), active_flow=None, enabled=True, revision=Revision(0))


async def _listed(harness: StoreHarness, after: str | None, limit: int) -> list[RequestType]:
    async def story(transaction: Transaction) -> list[RequestType]:
        behind = None if after is None else RequestTypeKey(after)
        return list(await transaction.request_types.list_types(after=behind, limit=limit))

    return await harness.unit_of_work().run(story)
