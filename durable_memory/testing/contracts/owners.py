"""Conformance: which workflows own the memories of a project, and when one of them is the last."""

from __future__ import annotations

import asyncio
from collections import Counter

from durable_memory.memory.identity import MemoryId, Owner, WorkflowId
from durable_memory.memory.stores.index_port import OUTLIVES, Binding, ProjectIndex
from durable_memory.testing.contracts.case import IndexCase

ONE, TWO, NOBODY = (WorkflowId("ns", name) for name in ("one", "two", "nobody"))


class OwnersContract(IndexCase):
    """The owners in the index of a project."""

    async def test_the_only_owner_is_the_last_one(self, index: ProjectIndex, project: str) -> None:
        alone, shared = MemoryId(project, "desk", "alone"), MemoryId(project, "desk", "shared")
        await index.register(alone, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "one", "run"))
        await index.register(shared, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, ONE, ["run"])) == {alone: True, shared: False}

    async def test_of_owners_that_end_together_the_last_one_to_ask_is_told(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        assert dict(await index.ending(project, ONE, ["run"])) == {memory: False}
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: True}
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: True}

    async def test_an_owner_that_writes_again_goes_on(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "shared")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.ending(project, ONE, ["run"])
        await index.register(memory, Owner("ns", "one", "next run"))
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: False}

    async def test_runs_of_one_workflow_are_one_owner(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for run in ("first", "second"):
            await index.register(memory, Owner("ns", "one", run))
        assert dict(await index.ending(project, ONE, ["first", "second"])) == {memory: True}

    async def test_what_another_run_wrote_to_as_well_does_not_end_with_the_first(
        self, index: ProjectIndex, project: str
    ) -> None:
        taken, left = MemoryId(project, "desk", "taken"), MemoryId(project, "desk", "left")
        # The first run is seen again last: an attempt of its activity may outlive it.
        for memory, run in ((taken, "first"), (left, "first"), (taken, "second"), (taken, "first")):
            await index.register(memory, Owner("ns", "one", run))
        assert dict(await index.ending(project, ONE, ["first"])) == {left: True}
        await index.release(project, ONE, [taken, left])
        assert {(binding.memory, binding.owner.run_id) for binding in await index.bindings(project, ONE)} == {
            (taken, "first"),
            (taken, "second"),
        }

    async def test_of_many_runs_the_last_ones_stay_bound(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for number in range(12):
            await index.register(memory, Owner("ns", "one", f"run-{number}"))
            await asyncio.sleep(0.002)
        bound = {binding.owner.run_id for binding in await index.bindings(project, ONE)}
        assert bound == {f"run-{number}" for number in range(4, 12)}
        assert dict(await index.ending(project, ONE, bound)) == {memory: True}

    async def test_the_same_workflow_id_in_two_namespaces_is_two_owners(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for namespace in ("a", "b"):
            await index.register(memory, Owner(namespace, "one", "run"))
        assert dict(await index.ending(project, WorkflowId("a", "one"), ["run"])) == {memory: False}

    async def test_a_released_owner_owns_nothing_and_leaves_the_others(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for workflow in ("one", "two"):
            await index.register(memory, Owner("ns", workflow, "run"))
        await index.ending(project, ONE, ["run"])
        await index.release(project, ONE, [memory])
        assert dict(await index.ending(project, ONE, ["run"])) == {}
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: True}

    async def test_what_is_written_to_again_before_the_release_stays_bound(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, owner)
        await index.ending(project, ONE, ["run"])
        await index.register(memory, owner)
        await index.release(project, ONE, [memory])
        assert [binding.owner for binding in await index.bindings(project, ONE)] == [owner]
        assert dict(await index.ending(project, ONE, ["run"])) == {memory: True}

    async def test_only_the_named_memories_are_released(self, index: ProjectIndex, project: str) -> None:
        settled, left = MemoryId(project, "desk", "settled"), MemoryId(project, "desk", "left")
        for memory in (settled, left):
            await index.register(memory, Owner("ns", "one", "run"))
        await index.ending(project, ONE, ["run"])
        await index.release(project, ONE, [settled])
        assert [binding.memory for binding in await index.bindings(project, ONE)] == [left]
        assert dict(await index.ending(project, ONE, ["run"])) == {left: True}
        await index.release(project, ONE, [])
        assert dict(await index.ending(project, ONE, ["run"])) == {left: True}

    async def test_releasing_a_stranger_is_no_error(self, index: ProjectIndex, project: str) -> None:
        await index.release(project, NOBODY, [MemoryId(project, "desk", "user:1")])
        assert dict(await index.ending(project, NOBODY, ["run"])) == {}

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
            bound = {(one.memory, one.owner) for one in await index.bindings(project, WorkflowId("ns", workflow))}
            assert bound == {pair for pair in expected if pair[1].workflow_id == workflow}
        ending = await index.ending(project, WorkflowId("ns", "wf"), ["run", "run 1"])
        assert dict(ending) == {MemoryId(project, "desk", key): False for key in words}
        await index.release(project, WorkflowId("ns", "wf"), [MemoryId(project, "desk", "wf")])
        found = {(one.memory, one.owner) for one in await self.all_owners(index, project)}
        assert expected - found == {
            (MemoryId(project, "desk", "wf"), Owner("ns", "wf", run)) for run in ("run", "run 1")
        }

    async def test_a_binding_shows_when_its_run_was_seen_last(self, index: ProjectIndex, project: str) -> None:
        memory, owner = MemoryId(project, "desk", "user:1"), Owner("ns", "one", "run")
        await index.register(memory, owner)
        [first] = await index.bindings(project, ONE)
        await asyncio.sleep(0.01)
        await index.register(memory, owner)
        [second] = await index.bindings(project, ONE)
        assert (second.memory, second.owner) == (memory, owner)
        assert second.bound_ms > first.bound_ms
        assert await index.bindings(project, WorkflowId("ns", "another")) == ()

    async def test_an_owner_that_goes_on_stays_bound_to_a_memory_that_is_gone(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        await index.register(memory, Owner("ns", "one", "run"))
        await asyncio.sleep(0.01)
        assert await index.forget(memory, (await index.memories(project, "desk", None, 10)).read_ms)
        await index.register(memory, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: False}

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
        await index.release_gone(project, ONE, "open")
        bound = {(binding.memory, binding.owner.run_id) for binding in await index.bindings(project, ONE)}
        assert bound == {(written, "first"), (written, "open"), (there, "first")}
        assert dict(await index.ending(project, TWO, ["first"])) == {old: False}
        assert dict(await index.ending(project, WorkflowId("other ns", "one"), ["first"])) == {old: True}

    async def test_a_memory_that_came_back_stays_bound_to_all_who_wrote_to_it(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        await index.register(memory, Owner("ns", "one", "first"))
        await asyncio.sleep(0.01)
        assert await index.forget(memory, (await index.memories(project, "desk", None, 10)).read_ms)
        await index.register(memory, Owner("ns", "two", "run"))
        await index.release_gone(project, ONE, "open")
        assert [binding.memory for binding in await index.bindings(project, ONE)] == [memory]
        await index.release_gone(project, NOBODY, "open")

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

    async def test_of_a_memory_that_outlives_its_owners_none_is_the_last_one(
        self, index: ProjectIndex, project: str
    ) -> None:
        memory = MemoryId(project, "desk", "user:1")
        for owner in (OUTLIVES, OUTLIVES, Owner("ns", "one", "run")):
            await index.register(memory, owner)
        assert dict(await index.ending(project, ONE, ["run"])) == {memory: False}
        await index.release(project, ONE, [memory])
        assert (await index.owners(project, None, 10)).bindings == ()
        await index.register(memory, Owner("ns", "two", "run"))
        assert dict(await index.ending(project, TWO, ["run"])) == {memory: False}

    async def test_a_memory_that_is_made_anew_outlives_nobody(self, index: ProjectIndex, project: str) -> None:
        memory = MemoryId(project, "desk", "user:1")
        await index.register(memory, OUTLIVES)
        await asyncio.sleep(0.002)
        page = await index.registered(project, None, 10)
        assert await index.forget(memory, page.read_ms)
        await index.register(memory, Owner("ns", "one", "run"))
        assert dict(await index.ending(project, ONE, ["run"])) == {memory: True}
