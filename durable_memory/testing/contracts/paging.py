"""Conformance: older pages of a memory without a gap or a double, and a reader who knows the version is told so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict
from durable_memory.memory.stores.values import ABSENT
from durable_memory.testing.contracts.builders import call, result, summarising, system, texts_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


async def pages(memory: Driven, limit: int, *, meanwhile: str = "") -> list[list[str]]:
    """Reads a memory from its newest page back; meanwhile: what is appended between two pages."""
    found = []
    view = await memory.read(limit=limit)
    later = iter(meanwhile)
    while view.entries:
        found.append(texts_of(view))
        await memory.append(*(user(text) for text in list(later)[:1]))
        view = await memory.read(limit=limit, before=view.entries[0].id)
    return found


class PagingContract(StoreCase):
    """Older pages, unchanged versions, and recorded appends."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 4, 100])
    async def test_all_pages_together_are_the_view(self, open_memory: OpenMemory, limit: int) -> None:
        memory = open_memory(summarising(max_tokens=5000, due_tokens=None))
        await memory.append(*(user(text) for text in "abcd"))
        await memory.flush(force=True)
        await memory.append(system("s"), *(user(text) for text in "efg"), user("p", pinned=True), system("t"))
        view = texts_of(await memory.read())
        assert view == ["s", "t", "a b c d", "e", "f", "g", "p"]
        assert [text for page in reversed(await pages(memory, limit)) for text in page] == view

    async def test_appends_meanwhile_make_no_gap_and_no_double(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_tokens=50_000, due_tokens=None))
        ids = [f"m{number}" for number in range(700)]
        await memory.append(*(user(text) for text in ids))
        found = await pages(memory, 130, meanwhile="xyz")
        assert [text for page in reversed(found) for text in page] == ids

    async def test_pages_are_of_whole_groups(self, memory: Driven) -> None:
        await memory.append(user("a"), call("C", "1", "2"), user("b"), result("r", "1"), result("q", "2"))
        assert await pages(memory, 3) == [["b"], ["C", "r", "q"], ["a"]]

    async def test_any_message_of_a_group_stands_for_the_group(self, memory: Driven) -> None:
        ids = (await memory.append(user("a"), call("C", "1"), user("b"), result("r", "1"))).ids
        assert texts_of(await memory.read(before=ids[3])) == ["a"]

    async def test_what_left_the_view_meanwhile_still_marks_its_place(self, memory: Driven) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefgh"))).ids
        await memory.append(user("i"), user("j"))
        assert texts_of(await memory.read(before=ids[1])) == []
        await memory.flush()
        assert texts_of(await memory.read(before=ids[1], sections=("short_term",))) == []
        assert texts_of(await memory.read(before=ids[7], sections=("short_term",))) == ["g"]

    async def test_a_page_keeps_to_the_other_limits(self, memory: Driven) -> None:
        ids = (await memory.append(system("s"), *(user(text) for text in "abcd"))).ids
        assert texts_of(await memory.read(before=ids[4], max_tokens=30)) == ["s", "b", "c"]
        assert texts_of(await memory.read(before=ids[4], limit=1)) == ["c"]
        assert texts_of(await memory.read(before=ids[4], sections=("system",))) == ["s"]
        assert texts_of(await memory.read(before=ids[2], ids=(ids[1], ids[3]))) == ["a"]

    async def test_an_id_of_another_life_is_refused(self, memory: Driven) -> None:
        old = (await memory.append(user("a"))).ids[0]
        await memory.clear()
        assert (await memory.read(before=old)).version == ABSENT
        new = (await memory.append(user("b"))).ids[0]
        for other in (old, "nonsense", new[:-4] + "0000"):
            with pytest.raises(MemoryInvalid, match="before_id"):
                await memory.read(before=other)

    async def test_a_known_version_is_answered_without_messages(self, memory: Driven) -> None:
        appended = await memory.append(*(user(text) for text in "abcdefghij"))
        view = await memory.read(since=appended.version)
        assert (view.entries, view.tokens, view.version) == ((), 0, appended.version)
        assert (view.omitted_messages, view.omitted_tokens, view.flush_due) == (2, 20, True)

    @pytest.mark.parametrize("change", ["append", "delete", "pin", "write", "flush"])
    async def test_each_change_is_seen_by_who_knows_the_version_before(self, memory: Driven, change: str) -> None:
        ids = (await memory.append(*(user(text) for text in "abcdefg"))).ids
        known = (await memory.read()).version
        changes: dict[str, Callable[[], Awaitable[object]]] = {
            "append": lambda: memory.append(user("z")),
            "delete": lambda: memory.delete(ids[0]),
            "pin": lambda: memory.pin(ids[0]),
            "write": lambda: memory.write(user("z")),
            "flush": memory.flush,
        }
        await changes[change]()
        assert await memory.read(since=known) == await memory.read()

    async def test_a_version_of_another_life_is_another(self, memory: Driven) -> None:
        known = (await memory.append(user("a"))).version
        await memory.clear()
        assert (await memory.read(since=known)).version == ABSENT
        await memory.append(user("b"))
        assert texts_of(await memory.read(since=known)) == ["b"]

    async def test_an_append_can_be_asked_for_by_its_operation(self, memory: Driven) -> None:
        assert await memory.recorded("turn") is None
        first = await memory.append(user("a"), user("b"), op="turn")
        recorded = await memory.recorded("turn")
        assert recorded is not None
        assert recorded == await memory.append(user("a"), user("b"), op="turn")
        assert recorded.ids == first.ids
        await memory.clear()
        assert (await memory.recorded("turn")) == await memory.append(user("a"), user("b"), op="turn")
        await memory.clear(op="cleared")
        with pytest.raises(MemoryOperationConflict):
            await memory.recorded("cleared")
