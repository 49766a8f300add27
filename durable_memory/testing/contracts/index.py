"""Conformance: what a project knows of its memories: which exist, and which may need a flush."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId, Owner, WorkflowId
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.testing.contracts.case import IndexCase


class IndexContract(IndexCase):
    """The memories in the index of a project."""

    async def test_a_registered_memory_is_listed_once_under_its_resource(
        self, index: ProjectIndex, project: str
    ) -> None:
        desk, other = MemoryId(project, "desk", "user:1"), MemoryId(project, "other", "user:1")
        for memory in (desk, desk, other):
            await index.register(memory, None)
        assert (await index.memories(project, "desk", None, 10)).memories == (desk,)
        assert (await index.memories(project, "other", None, 10)).memories == (other,)
        assert (await index.memories(project + "x", "desk", None, 10)).memories == ()

    async def test_keys_of_any_characters_come_back_as_they_were(self, index: ProjectIndex, project: str) -> None:
        keys = ["user:42", "a/b", "{x}", "100% ü 東京", "a*b", "a\\b", "[x]"]
        for key in keys:
            await index.register(MemoryId(project, "desk", key), Owner("ns", "wf", "run"))
        listed = await index.memories(project, "desk", None, 100)
        assert sorted(memory.key for memory in listed.memories) == sorted(keys)
        assert {memory.key for memory in await index.ending(project, WorkflowId("ns", "wf"), ["run"])} == set(keys)

    async def test_pages_list_every_memory_once(self, index: ProjectIndex, project: str) -> None:
        expected = {MemoryId(project, "desk", f"user:{number}") for number in range(25)}
        for memory in expected:
            await index.register(memory, None)
        listed: list[MemoryId] = []
        cursor: str | None = None
        for _ in range(100):
            page = await index.memories(project, "desk", cursor, 10)
            listed += page.memories
            cursor = page.cursor
            if cursor is None:
                break
        assert cursor is None
        assert (len(listed), set(listed)) == (25, expected)

    async def test_pages_show_each_memory_once_while_others_come_and_come_again(
        self, index: ProjectIndex, project: str
    ) -> None:
        expected = [MemoryId(project, "desk", f"user:{number:04}") for number in range(300)]
        for memory in expected:
            await index.register(memory, None)
        listed: list[MemoryId] = []
        cursor: str | None = None
        while True:
            page = await index.memories(project, "desk", cursor, 20)
            listed += page.memories
            cursor = page.cursor
            if cursor is None:
                break
            await index.register(page.memories[0], None)
            await index.register(MemoryId(project, "desk", f"{page.memories[-1].key}/new"), None)
            await index.register(MemoryId(project, "desk", f"a{page.memories[-1].key}"), None)
            assert await index.forget(page.memories[3], page.read_ms + 1)
        assert len(set(listed)) == len(listed)
        assert [memory for memory in listed if not memory.key.endswith("/new")] == expected

    @pytest.mark.parametrize(
        ("prefix", "found"),
        [
            ("user:al", ["user:al", "user:al/x", "user:al:1"]),
            ("user:alice", ["user:alice"]),
            ("user:a_ice", ["user:a_ice"]),
            ("user:a%", ["user:a%"]),
            ("user:al:", ["user:al:1"]),
            ("user:", ["user:a%", "user:a_ice", "user:al", "user:al/x", "user:al:1", "user:alice", "user:alice2"]),
            ("user", ["user:a%", "user:a_ice", "user:al", "user:al/x", "user:al:1", "user:alice", "user:alice2"]),
            ("東京", ["東京", "東京/ü"]),
            ("東", []),
            ("*", []),
        ],
    )
    async def test_a_prefix_is_whole_segments(
        self, index: ProjectIndex, project: str, prefix: str, found: list[str]
    ) -> None:
        keys = ["user:a%", "user:a_ice", "user:al", "user:al/x", "user:al:1", "user:alice", "user:alice2"]
        keys += ["users:al", "東京", "東京/ü", "東京都"]
        for key in keys:
            await index.register(MemoryId(project, "desk", key), None)
        for count in (1, 2, 100):
            listed: list[str] = []
            cursor: str | None = None
            while True:
                page = await index.memories(project, "desk", cursor, count, prefix)
                assert len(page.memories) <= count
                listed += [memory.key for memory in page.memories]
                cursor = page.cursor
                if cursor is None:
                    break
            assert listed == found

    async def test_the_empty_prefix_is_all(self, index: ProjectIndex, project: str) -> None:
        keys = ["a", "user:1", "ü", "😀"]
        for key in keys:
            await index.register(MemoryId(project, "desk", key), None)
        page = await index.memories(project, "desk", None, 10, "")
        assert [memory.key for memory in page.memories] == keys

    @pytest.mark.parametrize("cursor", ["x", "user:1", "{}", "ä", pytest.param("[" * 100_000, id="deep")])
    async def test_a_cursor_that_no_page_gave_is_refused(self, index: ProjectIndex, project: str, cursor: str) -> None:
        await index.register(MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run"))
        with pytest.raises(MemoryInvalid):
            await index.memories(project, "desk", cursor, 10)
        with pytest.raises(MemoryInvalid):
            await index.registered(project, cursor, 10)
        with pytest.raises(MemoryInvalid):
            await index.owners(project, cursor, 10)

    async def test_a_forgotten_memory_is_in_no_list(self, index: ProjectIndex, project: str) -> None:
        gone, kept = MemoryId(project, "desk", "gone"), MemoryId(project, "desk", "kept")
        for memory in (gone, kept):
            await index.register(memory, Owner("ns", "one", "run"))
        await asyncio.sleep(0.01)
        as_of_ms = (await index.memories(project, "desk", None, 10)).read_ms
        assert await index.forget(gone, as_of_ms)
        assert (await index.memories(project, "desk", None, 10)).memories == (kept,)
        assert (await index.registered(project, None, 10)).memories == (kept,)
        assert not await index.forget(gone, as_of_ms)

    async def test_the_resources_with_memories_are_listed_in_the_order_of_their_ids(
        self, index: ProjectIndex, project: str
    ) -> None:
        assert await index.resources(project) == ()
        for resource, owner in (("desk", None), ("c", Owner("ns", "one", "run")), ("a-b", None), ("a_b", None)):
            for key in ("user:1", "user:2"):
                await index.register(MemoryId(project, resource, key), owner)
        assert await index.resources(project) == ("a-b", "a_b", "c", "desk")
        assert await index.resources(project + "x") == ()

    async def test_a_resource_leaves_the_list_with_its_last_memory_and_comes_back_with_the_next(
        self, index: ProjectIndex, project: str
    ) -> None:
        first, last, other = (MemoryId(project, *ids) for ids in (("desk", "1"), ("desk", "2"), ("other", "1")))
        for memory in (first, last, other):
            await index.register(memory, None)
        await asyncio.sleep(0.01)
        as_of_ms = (await index.registered(project, None, 10)).read_ms
        assert await index.forget(first, as_of_ms)
        assert await index.resources(project) == ("desk", "other")
        assert await index.forget(last, as_of_ms)
        assert await index.resources(project) == ("other",)
        await index.register(first, None)
        assert await index.resources(project) == ("desk", "other")
        assert not await index.forget(first, as_of_ms)
        assert await index.resources(project) == ("desk", "other")

    async def test_a_memory_that_is_born_while_it_was_taken_for_dead_is_not_forgotten(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, None)
        as_of_ms = (await index.registered(project, None, 10)).read_ms
        await index.register(memory, owner)
        assert not await index.forget(memory, as_of_ms)
        assert (await index.memories(project, "desk", None, 10)).memories == (memory,)
        assert [binding.owner for binding in await index.bindings(project, WorkflowId("ns", "one"))] == [owner]

    async def test_memories_of_all_resources_come_longest_registered_first_however_often_they_are_seen(
        self, index: ProjectIndex, project: str
    ) -> None:
        memories = [MemoryId(project, resource, "user:1") for resource in ("c", "a", "b", "d")]
        for memory in memories:
            await index.register(memory, None)
            await asyncio.sleep(0.005)
        await index.register(memories[0], None)
        first = await index.registered(project, None, 2)
        second = await index.registered(project, first.cursor, 2)
        assert [*first.memories, *second.memories] == memories
        assert second.cursor is None
        assert (await index.registered(project + "x", None, 10)).memories == ()
