"""Conformance: what a project knows of its memories: which exist, who owns them, which may need a flush."""

from __future__ import annotations

import uuid

import pytest

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.port import Backend, ProjectIndex


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
        assert {memory.key for memory in await index.ending(project, "ns", "wf")} == set(keys)

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

    async def test_the_only_owner_is_the_last_one(self, index: ProjectIndex, project: str) -> None:
        alone, shared = MemoryId(project, "desk", "alone"), MemoryId(project, "desk", "shared")
        await index.register(alone, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, "ns", "one")) == {alone: True, shared: False}

    async def test_of_owners_that_end_together_the_last_one_to_ask_is_told(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        assert dict(await index.ending(project, "ns", "one")) == {memory: False}
        assert dict(await index.ending(project, "ns", "two")) == {memory: True}
        assert dict(await index.ending(project, "ns", "two")) == {memory: True}

    async def test_an_owner_that_writes_again_goes_on(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.ending(project, "ns", "one")
        await index.register(memory, Owner("ns", "one", "next run"))
        assert dict(await index.ending(project, "ns", "two")) == {memory: False}

    async def test_runs_of_one_workflow_are_one_owner(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for run in ("first", "second"):
            await index.register(memory, Owner("ns", "one", run))
        assert dict(await index.ending(project, "ns", "one")) == {memory: True}

    async def test_the_same_workflow_id_in_two_namespaces_is_two_owners(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for namespace in ("a", "b"):
            await index.register(memory, Owner(namespace, "one", "run"))
        assert dict(await index.ending(project, "a", "one")) == {memory: False}

    async def test_a_released_owner_owns_nothing_and_leaves_the_others(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.release(project, "ns", "one")
        assert dict(await index.ending(project, "ns", "one")) == {}
        assert dict(await index.ending(project, "ns", "two")) == {memory: True}

    async def test_releasing_a_stranger_is_no_error(self, index: ProjectIndex, project: str) -> None:
        await index.release(project, "ns", "nobody")
        assert dict(await index.ending(project, "ns", "nobody")) == {}

    async def test_a_forgotten_memory_is_in_no_list(self, index: ProjectIndex, project: str) -> None:
        gone, kept = MemoryId(project, "desk", "gone"), MemoryId(project, "desk", "kept")
        for memory in (gone, kept):
            await index.register(memory, Owner("ns", "one", "run"))
        await index.forget(gone)
        assert (await index.memories(project, "desk", None, 10)).memories == (kept,)
        assert await index.due_candidates(project, 10) == (kept,)

    async def test_candidates_come_longest_registered_first(self, index: ProjectIndex, project: str) -> None:
        memories = [MemoryId(project, resource, "user:1") for resource in ("c", "a", "b")]
        for memory in memories:
            await index.register(memory, None)
        assert set(await index.due_candidates(project, 10)) == set(memories)
        assert len(await index.due_candidates(project, 2)) == 2
        assert await index.due_candidates(project + "x", 10) == ()
