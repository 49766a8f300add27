"""Conformance: a scan shows all that a memory holds, each once and in whole groups, whatever happens meanwhile."""

from __future__ import annotations

import pytest

from durable_memory.memory.stores.values import ScanPage
from durable_memory.testing.contracts.builders import call, result, summarising, system, text_of, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven


async def scan(memory: Driven, count: int = 1000) -> list[ScanPage]:
    """Reads all pages."""
    pages = [await memory.store.scan(memory.memory, None, count)]
    while pages[-1].cursor is not None:
        pages.append(await memory.store.scan(memory.memory, pages[-1].cursor, count))
    return pages


def texts(pages: list[ScanPage]) -> list[str]:
    """The texts of pages, in their order; those that wait in brackets."""
    return [f"({text_of(entry)})" if waits else text_of(entry) for page in pages for entry, waits in page.entries]


class ScanningContract(StoreCase):
    """Scans, as exports and grouped stats make them."""

    async def test_an_absent_memory_has_nothing(self, memory: Driven) -> None:
        assert await memory.store.scan(memory.memory, None, 10) == ScanPage((), "", None)

    @pytest.mark.parametrize("count", [1, 2, 3, 1000])
    async def test_summaries_come_first_then_groups_by_age_live_waiting_and_open(
        self, memory: Driven, count: int
    ) -> None:
        await memory.append(user("a"), user("b"))
        await memory.flush(force=True)
        await memory.append(system("s"), call("c1", "1"), user("between"), result("r1", "1"))
        await memory.append(
            user("pinned", pinned=True), call("open", "2"), *(user(f"m{number}") for number in range(5))
        )
        pages = await scan(memory, count)
        # The late result stands with its call, and the oldest groups wait for their summary.
        assert texts(pages) == [
            *("a b", "s", "(c1)", "(r1)", "(between)", "pinned", "open"),
            *(f"m{number}" for number in range(5)),
        ]
        assert all(page.incarnation == pages[0].incarnation for page in pages)
        entries = {text_of(entry): entry for page in pages for entry, _ in page.entries}
        assert (entries["a b"].section, entries["s"].section, entries["m0"].section) == (
            "long_term",
            "system",
            "short_term",
        )
        assert [text for text, entry in entries.items() if entry.pinned] == ["pinned"]

    async def test_pages_hold_about_as_many_as_asked_for_and_whole_groups(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(max_tokens=10_000, due_tokens=None, overflow_tokens=20_000))
        for number in range(30):
            await memory.append(call(f"c{number}", f"{number}-1", f"{number}-2"), result("r", f"{number}-1"))
        for number in range(30):
            await memory.append(result("late", f"{number}-2"))
        pages = await scan(memory, 10)
        assert [len(page.entries) for page in pages if page.entries] == [12] * 7 + [6]
        assert sum((page.entries for page in pages), ()) == (await scan(memory))[1].entries

    async def test_what_happens_meanwhile_leaves_out_and_doubles_nothing_that_stays(
        self, open_memory: OpenMemory
    ) -> None:
        memory = open_memory(summarising(max_tokens=600, due_tokens=500, target_tokens=300, overflow_tokens=2_000))
        for number in range(50):
            await memory.append(user(f"m{number:02}"))
        seen: list[str] = []
        page = await memory.store.scan(memory.memory, None, 5)
        while page.cursor is not None:
            seen += texts([page])
            await memory.append(*(user("new") for _ in range(20 if len(seen) < 15 else 1)))
            page = await memory.store.scan(memory.memory, page.cursor, 5)
        seen += texts([page])
        messages = [text.strip("()") for text in seen if "new" not in text]
        assert messages == [f"m{number:02}" for number in range(50)]
        assert any(text.startswith("(") for text in seen), "what moved into the overflow is still seen"

    async def test_a_page_shows_that_the_memory_was_born_again(self, memory: Driven) -> None:
        await memory.append(user("a"), user("b"), user("c"))
        page = await memory.store.scan(memory.memory, "r:0", 1)
        await memory.clear()
        await memory.append(user("other"))
        later = await memory.store.scan(memory.memory, page.cursor, 1)
        assert later.incarnation != page.incarnation
