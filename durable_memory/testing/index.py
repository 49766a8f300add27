"""Conformance: what a project knows of its memories: which exist, who owns them, which may need a flush."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter

import pytest

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.index_port import Binding, ProjectIndex
from durable_memory.memory.stores.port import Backend


class IndexContract:
    """The index of a project."""

    @pytest.fixture
    def index(self, backend: Backend) -> ProjectIndex:
        """The index under test."""
        return backend.index

    @pytest.fixture
    def project(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"

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
        assert {memory.key for memory in await index.ending(project, "ns", "wf", ["run"])} == set(keys)

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

    async def test_the_only_owner_is_the_last_one(self, index: ProjectIndex, project: str) -> None:
        alone, shared = MemoryId(project, "desk", "alone"), MemoryId(project, "desk", "shared")
        await index.register(alone, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {alone: True, shared: False}

    async def test_of_owners_that_end_together_the_last_one_to_ask_is_told(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {memory: False}
        assert dict(await index.ending(project, "ns", "two", ["run"])) == {memory: True}
        assert dict(await index.ending(project, "ns", "two", ["run"])) == {memory: True}

    async def test_an_owner_that_writes_again_goes_on(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.ending(project, "ns", "one", ["run"])
        await index.register(memory, Owner("ns", "one", "next run"))
        assert dict(await index.ending(project, "ns", "two", ["run"])) == {memory: False}

    async def test_runs_of_one_workflow_are_one_owner(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for run in ("first", "second"):
            await index.register(memory, Owner("ns", "one", run))
        assert dict(await index.ending(project, "ns", "one", ["first", "second"])) == {memory: True}

    async def test_what_another_run_wrote_to_as_well_does_not_end_with_the_first(
        self, index: ProjectIndex, project: str
    ) -> None:
        taken, left = MemoryId(project, "desk", "taken"), MemoryId(project, "desk", "left")
        # The first run is seen again last: an attempt of its activity may outlive it.
        for memory, run in ((taken, "first"), (left, "first"), (taken, "second"), (taken, "first")):
            await index.register(memory, Owner("ns", "one", run))
        assert dict(await index.ending(project, "ns", "one", ["first"])) == {left: True}
        await index.release(project, "ns", "one", [taken, left])
        assert {(binding.memory, binding.owner.run_id) for binding in await index.bindings(project, "ns", "one")} == {
            (taken, "first"),
            (taken, "second"),
        }

    async def test_of_many_runs_the_last_ones_stay_bound(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for number in range(12):
            await index.register(memory, Owner("ns", "one", f"run-{number}"))
            await asyncio.sleep(0.002)
        bound = {binding.owner.run_id for binding in await index.bindings(project, "ns", "one")}
        assert bound == {f"run-{number}" for number in range(4, 12)}
        assert dict(await index.ending(project, "ns", "one", bound)) == {memory: True}

    async def test_the_same_workflow_id_in_two_namespaces_is_two_owners(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for namespace in ("a", "b"):
            await index.register(memory, Owner(namespace, "one", "run"))
        assert dict(await index.ending(project, "a", "one", ["run"])) == {memory: False}

    async def test_a_released_owner_owns_nothing_and_leaves_the_others(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.ending(project, "ns", "one", ["run"])
        await index.release(project, "ns", "one", [memory])
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {}
        assert dict(await index.ending(project, "ns", "two", ["run"])) == {memory: True}

    async def test_what_is_written_to_again_before_the_release_stays_bound(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, owner)
        await index.ending(project, "ns", "one", ["run"])
        await index.register(memory, owner)
        await index.release(project, "ns", "one", [memory])
        assert [binding.owner for binding in await index.bindings(project, "ns", "one")] == [owner]
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {memory: True}

    async def test_only_the_named_memories_are_released(self, index: ProjectIndex, project: str) -> None:
        settled, left = MemoryId(project, "desk", "settled"), MemoryId(project, "desk", "left")
        for memory in (settled, left):
            await index.register(memory, Owner("ns", "one", "run"))
        await index.ending(project, "ns", "one", ["run"])
        await index.release(project, "ns", "one", [settled])
        assert [binding.memory for binding in await index.bindings(project, "ns", "one")] == [left]
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {left: True}
        await index.release(project, "ns", "one", [])
        assert dict(await index.ending(project, "ns", "one", ["run"])) == {left: True}

    async def test_releasing_a_stranger_is_no_error(self, index: ProjectIndex, project: str) -> None:
        await index.release(project, "ns", "nobody", [MemoryId(project, "desk", "user:1")])
        assert dict(await index.ending(project, "ns", "nobody", ["run"])) == {}

    async def test_owners_are_listed_with_all_they_are_bound_to(self, index: ProjectIndex, project: str) -> None:
        expected = {
            (MemoryId(project, resource, "a/b ü"), Owner("ns/1", f"{{wf}}/{number}", f"run-{number}"))
            for number in range(40)
            for resource in ("desk", "other")
        }
        before = await index.owners(project, None, 10)
        for memory, owner in expected:
            await index.register(memory, owner)
        found = await self.all_owners(index, project)
        assert {(binding.memory, binding.owner) for binding in found} == expected
        assert before.bindings == await self.all_owners(index, project + "x") == ()
        assert all(before.read_ms <= binding.bound_ms for binding in found)

    async def test_many_owners_come_in_pages_and_none_is_left_out(self, index: ProjectIndex, project: str) -> None:
        # More than a small hash of Redis holds, which is always listed as a whole.
        expected = {f"wf-{number}" for number in range(700)}
        for workflow in expected:
            await index.register(MemoryId(project, "desk", "shared"), Owner("ns", workflow, "run"))
        first = await index.owners(project, None, 20)
        assert first.cursor is not None
        assert len(first.bindings) < 300
        found = await self.all_owners(index, project)
        assert {binding.owner.workflow_id for binding in found} == expected

    async def test_all_that_an_owner_is_bound_to_stands_on_one_page(self, index: ProjectIndex, project: str) -> None:
        expected = {"one": 3, "three": 3, "two": 1_100}
        for workflow, memories in expected.items():
            for number in range(memories):
                await index.register(MemoryId(project, "desk", f"user:{number}"), Owner("ns", workflow, "run"))
        found: list[tuple[str, int]] = []
        cursor: str | None = None
        while True:
            page = await index.owners(project, cursor, 2)
            found += Counter(binding.owner.workflow_id for binding in page.bindings).items()
            cursor = page.cursor
            if cursor is None:
                break
        assert sorted(found) == sorted(expected.items())

    async def test_ids_that_begin_like_others_are_not_taken_for_them(self, index: ProjectIndex, project: str) -> None:
        words = ["wf", "wf ", "wf 1", "wf!", "wf/1", "wf%20", "w"]
        expected = {
            (MemoryId(project, "desk", key), Owner("ns", workflow, run))
            for key in words
            for workflow in words
            for run in ("run", "run 1")
        }
        for memory, owner in expected:
            await index.register(memory, owner)
        for workflow in words:
            bound = {(one.memory, one.owner) for one in await index.bindings(project, "ns", workflow)}
            assert bound == {pair for pair in expected if pair[1].workflow_id == workflow}
        ending = await index.ending(project, "ns", "wf", ["run", "run 1"])
        assert dict(ending) == {MemoryId(project, "desk", key): False for key in words}
        await index.release(project, "ns", "wf", [MemoryId(project, "desk", "wf")])
        found = {(one.memory, one.owner) for one in await self.all_owners(index, project)}
        assert expected - found == {
            (MemoryId(project, "desk", "wf"), Owner("ns", "wf", run)) for run in ("run", "run 1")
        }

    async def test_a_binding_shows_when_its_run_was_seen_last(self, index: ProjectIndex, project: str) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, owner)
        [first] = await index.bindings(project, "ns", "one")
        await asyncio.sleep(0.01)
        await index.register(memory, owner)
        [second] = await index.bindings(project, "ns", "one")
        assert (second.memory, second.owner) == (memory, owner)
        assert second.bound_ms > first.bound_ms
        assert await index.bindings(project, "ns", "another") == ()

    async def test_a_forgotten_memory_is_in_no_list(self, index: ProjectIndex, project: str) -> None:
        gone, kept = MemoryId(project, "desk", "gone"), MemoryId(project, "desk", "kept")
        for memory in (gone, kept):
            await index.register(memory, Owner("ns", "one", "run"))
        await asyncio.sleep(0.01)
        as_of_ms = (await index.memories(project, "desk", None, 10)).read_ms
        assert await index.forget(gone, as_of_ms)
        assert (await index.memories(project, "desk", None, 10)).memories == (kept,)
        assert (await index.due_candidates(project, None, 10)).memories == (kept,)
        assert not await index.forget(gone, as_of_ms)

    async def test_an_owner_that_goes_on_stays_bound_to_a_memory_that_is_gone(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        await index.register(memory, Owner("ns", "one", "run"))
        await asyncio.sleep(0.01)
        assert await index.forget(memory, (await index.memories(project, "desk", None, 10)).read_ms)
        await index.register(memory, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, "ns", "two", ["run"])) == {memory: False}

    async def test_an_owner_that_goes_on_is_released_of_what_is_gone_and_its_open_run_did_not_write_to(
        self, index: ProjectIndex, project: str
    ) -> None:
        old, written, there = (MemoryId(project, "desk", key) for key in ("old", "written", "there"))
        for memory, run in ((old, "first"), (written, "first"), (written, "open"), (there, "first")):
            await index.register(memory, Owner("ns", "one", run))
        for owner in (Owner("ns", "two", "first"), Owner("other ns", "one", "first")):
            await index.register(old, owner)
        await asyncio.sleep(0.01)
        as_of_ms = (await index.memories(project, "desk", None, 10)).read_ms
        for memory in (old, written):
            assert await index.forget(memory, as_of_ms)
        await index.release_gone(project, "ns", "one", "open")
        bound = {(binding.memory, binding.owner.run_id) for binding in await index.bindings(project, "ns", "one")}
        assert bound == {(written, "first"), (written, "open"), (there, "first")}
        assert dict(await index.ending(project, "ns", "two", ["first"])) == {old: False}
        assert dict(await index.ending(project, "other ns", "one", ["first"])) == {old: True}

    async def test_a_memory_that_came_back_stays_bound_to_all_who_wrote_to_it(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        await index.register(memory, Owner("ns", "one", "first"))
        await asyncio.sleep(0.01)
        assert await index.forget(memory, (await index.memories(project, "desk", None, 10)).read_ms)
        await index.register(memory, Owner("ns", "two", "run"))
        await index.release_gone(project, "ns", "one", "open")
        assert [binding.memory for binding in await index.bindings(project, "ns", "one")] == [memory]
        await index.release_gone(project, "ns", "nobody", "open")

    async def test_a_memory_that_is_born_while_it_was_taken_for_dead_is_not_forgotten(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, None)
        as_of_ms = (await index.due_candidates(project, None, 10)).read_ms
        await index.register(memory, owner)
        assert not await index.forget(memory, as_of_ms)
        assert (await index.memories(project, "desk", None, 10)).memories == (memory,)
        assert [binding.owner for binding in await index.bindings(project, "ns", "one")] == [owner]

    async def test_candidates_come_longest_registered_first_however_often_they_are_seen(
        self, index: ProjectIndex, project: str
    ) -> None:
        memories = [MemoryId(project, resource, "user:1") for resource in ("c", "a", "b", "d")]
        for memory in memories:
            await index.register(memory, None)
            await asyncio.sleep(0.005)
        await index.register(memories[0], None)
        first = await index.due_candidates(project, None, 2)
        second = await index.due_candidates(project, first.cursor, 2)
        assert [*first.memories, *second.memories] == memories
        assert second.cursor is None
        assert (await index.due_candidates(project + "x", None, 10)).memories == ()

    @staticmethod
    async def all_owners(index: ProjectIndex, project: str) -> tuple[Binding, ...]:
        """Reads all pages."""
        bindings: list[Binding] = []
        page = await index.owners(project, None, 20)
        bindings += page.bindings
        while page.cursor is not None:
            page = await index.owners(project, page.cursor, 20)
            bindings += page.bindings
        return tuple(bindings)
