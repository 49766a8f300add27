"""Conformance: a delete removes whole groups wherever they are, says what it did not find, and forgets nothing else."""

from __future__ import annotations

from durable_memory.memory.stores.values import MOST_RANGES
from durable_memory.testing.contracts.builders import call, result, summarising, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


class DeletingContract(StoreCase):
    """Deleting messages, groups and summaries."""

    async def test_a_deleted_message_is_gone_and_the_counters_follow(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abc"))).ids
        deleted = await memory.delete(ids[1])
        assert (deleted.removed, deleted.not_found, dict(deleted.covered)) == ((ids[1],), (), {})
        assert await memory.texts() == ["a", "c"]
        await memory.check_counters()

    async def test_a_delete_changes_the_version(self, memory: Driven) -> None:
        appended = await memory.append(user("a"), user("b"))
        await memory.delete(appended.ids[0])
        assert (await memory.read()).version != appended.version

    async def test_a_message_that_waits_in_the_overflow_can_be_deleted(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefghij"))).ids
        deleted = await memory.delete(ids[0])
        view = await memory.read()
        assert (deleted.removed, view.omitted_messages, view.omitted_tokens) == ((ids[0],), 1, 10)
        assert await memory.waiting() == ["b"]

    async def test_an_evicted_group_is_deleted_whole(self, memory: Driven) -> None:
        ids = (await memory.append(call("C", "1"), result("r", "1"), *(user(text) for text in "abcdefgh"))).ids
        assert set((await memory.delete(ids[1])).removed) == set(ids[:2])
        assert (await memory.read()).omitted_messages == 0

    async def test_an_open_group_can_be_deleted(self, memory: Driven) -> None:
        ids = (await memory.append(call("C", "1"), user("a"))).ids
        assert (await memory.delete(ids[0])).removed == (ids[0],)
        await memory.check_counters()

    async def test_unknown_ids_are_named_as_not_found(self, memory: Driven) -> None:
        kept = (await memory.append(user("a"))).ids[0]
        unknown = ["nonsense", "", "a-b-c", kept + "0", "0" * 16 + "-1-0000"]
        deleted = await memory.delete(*unknown)
        assert (deleted.removed, set(deleted.not_found)) == ((), set(unknown))
        assert await memory.texts() == ["a"]

    async def test_a_delete_on_an_absent_memory_finds_nothing_and_creates_nothing(self, memory: Driven) -> None:
        deleted = await memory.delete("nonsense")
        assert (deleted.removed, deleted.not_found) == ((), ("nonsense",))
        assert (await memory.stats()).exists is False

    async def test_ids_of_one_group_are_removed_once(self, memory: Driven) -> None:
        ids = (await memory.append(call("C", "1"), result("r", "1"), user("a"))).ids
        deleted = await memory.delete(*ids[:2], ids[0])
        assert (sorted(deleted.removed), deleted.not_found) == (sorted(ids[:2]), ())
        await memory.check_counters()

    async def test_a_pinned_message_can_be_deleted(self, memory: Driven) -> None:
        ids = (await memory.append(user("p", pinned=True), user("a"))).ids
        await memory.delete(ids[0])
        assert await memory.texts() == ["a"]

    async def test_what_only_a_summary_holds_is_named_with_that_summary(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abc"))).ids
        flushed = await memory.flush(force=True)
        deleted = await memory.delete(ids[1])
        assert (deleted.removed, dict(deleted.covered)) == ((), {ids[1]: flushed.summary_id})
        assert await memory.texts() == ["a b c"]

    async def test_a_summary_can_be_deleted(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abc"))
        flushed = await memory.flush(force=True)
        await memory.append(user("d"))
        assert flushed.summary_id is not None
        assert (await memory.delete(flushed.summary_id)).removed == (flushed.summary_id,)
        assert await memory.texts() == ["d"]
        await memory.check_counters()

    async def test_a_later_summary_covers_what_the_earlier_one_did(self, memory: Driven) -> None:
        a = (await memory.append(user("a"))).ids[0]
        await memory.flush("first", force=True)
        b = (await memory.append(user("b"))).ids[0]
        second = await memory.flush("second", force=True)
        assert texts_of(await memory.read()) == ["a b"]
        assert dict((await memory.delete(a, b)).covered) == {a: second.summary_id, b: second.summary_id}

    async def test_of_many_ranges_the_oldest_are_one_and_nothing_summarised_is_denied(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(max_tokens=400, due_tokens=None, target_tokens=None))
        ids = (
            await memory.append(*(user(f"m{one}", 1, pinned=one % 2 == 1) for one in range(2 * MOST_RANGES + 8)))
        ).ids
        summarised, live = ids[::2], ids[1::2]
        for owner in ("first", "again"):
            flushed = await memory.flush(owner, force=True)
            assert set((await memory.delete(*summarised)).covered) == set(summarised)
            summarised = (*summarised, *(await memory.append(user(owner, 1))).ids)
        assert (await memory.delete(*live)).removed == live
        # 68 ranges, and one of the second flush behind them: the first six are one.
        deleted = await memory.delete(*live)
        assert dict(deleted.covered) == dict.fromkeys(live[:5], flushed.summary_id)
        assert deleted.not_found == live[5:]

    async def test_a_delete_elsewhere_leaves_a_flush_in_progress_alone(self, memory: Driven) -> None:
        await memory.append(*(user(text) for text in "abcdefg"))
        batch = await memory.batch()
        late = (await memory.append(user("h"))).ids[0]
        await memory.delete(late)
        await memory.summarise(batch)
        assert (await memory.commit(batch)).outcome == "committed"
