"""`pop_item` returns what it has removed: the newest item, also where others pop, clear or flush at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, Worker

from durable_memory import AppendResult, DeleteResult, MemoryClient, MemoryPlugin, MemoryRef, Message, Registry, View
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import ClearResult
from durable_memory.openai_agents import MemorySession
from tests.integration.openai_agents.popping import Pop
from tests.integration.temporal.observing import activities_of
from tests.integration.temporal.rig import unique

REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "thread", "max_tokens": 4000, "scope": "user"},
        {
            "resource": "memory",
            "id": "brief",
            "max_tokens": 400,
            "scope": "user",
            "flushing": {"type": "hybrid_summary", "keep_last": 0},
        },
    ]
)
ASKED = {"role": "user", "content": "Where are they?"}
CALL = {"type": "function_call", "call_id": "a", "name": "track", "arguments": "{}"}
OTHER_CALL = {**CALL, "call_id": "b"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "In Lyon."}
OTHER_OUTPUT = {**OUTPUT, "call_id": "b"}
BEFORE = Path(__file__).with_name("pop.before-0.1.0.json")


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[MemoryClient]:
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=unique("project")) as client:
        yield client


@pytest.fixture
def memory(client: MemoryClient) -> Memory:
    return client.memory("thread", "user:42")


async def popped(session: MemorySession) -> list[Any]:
    """Pops until nothing is left."""
    items = list[Any]()
    while (item := await session.pop_item()) is not None:
        items.append(item)
    return items


async def test_a_call_that_waits_is_newer_than_what_was_said_before_it(memory: Memory) -> None:
    session = MemorySession(memory)
    await session.add_items([ASKED, CALL])
    assert await session.pop_item() == CALL
    assert await session.get_items() == [ASKED]
    assert (await memory.stats()).messages["short_term"] == 1
    assert await popped(session) == [ASKED]


async def test_a_call_that_waits_goes_with_the_results_that_it_has(memory: Memory) -> None:
    session = MemorySession(memory)
    await session.add_items([ASKED, CALL, OTHER_CALL])
    await session.add_items([OUTPUT])
    assert await popped(session) == [OUTPUT, ASKED]
    assert not sum((await memory.stats()).messages.values())


async def test_what_was_said_after_a_call_that_waits_is_popped_before_it(memory: Memory) -> None:
    session = MemorySession(memory)
    await session.add_items([ASKED, CALL])
    await session.add_items([OTHER_CALL])
    await memory.append("Hello?")
    assert await popped(session) == [{"role": "user", "content": "Hello?"}, OTHER_CALL, CALL, ASKED]


async def test_a_call_that_has_its_result_is_popped_as_it_is_shown(memory: Memory) -> None:
    session, elsewhere = MemorySession(memory), MemorySession(memory)
    await session.add_items([ASKED, CALL])
    await elsewhere.add_items([OUTPUT])
    await session.add_items([OTHER_CALL])
    await session.add_items([OTHER_OUTPUT])
    assert await popped(session) == [OTHER_OUTPUT, OUTPUT, ASKED]


async def test_a_call_that_waits_is_forgotten_where_another_has_cleared_the_memory(memory: Memory) -> None:
    session, elsewhere = MemorySession(memory), MemorySession(memory)
    await session.add_items([ASKED, CALL])
    await elsewhere.clear_session()
    await elsewhere.add_items([ASKED])
    assert await popped(session) == [ASKED]


async def test_each_of_many_that_pop_at_once_gets_an_item_of_its_own(memory: Memory) -> None:
    session = MemorySession(memory)
    await session.add_items([{"role": "user", "content": f"{number}"} for number in range(8)])
    items = await asyncio.gather(*(MemorySession(memory).pop_item() for _ in range(4)))
    assert sorted(item["content"] for item in items if item is not None) == ["4", "5", "6", "7"]
    assert [item["content"] for item in await session.get_items()] == ["0", "1", "2", "3"]


class FlushedBetween:
    """A handle on a memory that is flushed after it was read."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.outcomes = list[str]()

    @property
    def ref(self) -> MemoryRef:
        """See Memory."""
        return self._memory.ref

    async def read(
        self, *, limit: int | None = None, max_tokens: int | None = None, sections: Sequence[str] | None = None
    ) -> View:
        """See Memory."""
        view = await self._memory.read(limit=limit, max_tokens=max_tokens, sections=sections)
        self.outcomes.append((await self._memory.flush(force=True)).outcome)
        return view

    async def append(self, messages: Sequence[Message]) -> AppendResult:
        """See Memory."""
        return await self._memory.append(messages)

    async def delete(self, ids: Sequence[str]) -> DeleteResult:
        """See Memory."""
        return await self._memory.delete(ids)

    async def clear(self, *, confirm: bool = False) -> ClearResult:
        """See Memory."""
        return await self._memory.clear(confirm=confirm)


async def test_what_is_summarised_before_it_is_removed_was_not_popped(client: MemoryClient) -> None:
    memory = client.memory("brief", "user:42")
    await memory.append("My order is A-17.")
    flushed = FlushedBetween(memory)
    assert await MemorySession(flushed).pop_item() is None
    assert flushed.outcomes == ["committed", "nothing"]
    [summary] = await MemorySession(memory).get_items()
    assert "A-17" in summary["content"]


async def test_a_workflow_pops_as_a_process_does_and_replays(temporal_address: str, redis_url: str) -> None:
    queue = unique("queue")
    plugin = MemoryPlugin(redis_url=redis_url, memories=REGISTRY, project=queue, task_queue=f"flushes-of-{queue}")
    client = await Client.connect(temporal_address, plugins=[plugin])
    async with Worker(client, task_queue=queue, workflows=[Pop]):
        run = await client.start_workflow(Pop.run, args=["thread", "user:42"], id=unique("pop"), task_queue=queue)
        *at_once, alone, third, fourth, last = await run.result()
    assert sorted(at_once, key=lambda item: item is None) == [{"role": "user", "content": "Hi"}, None]
    assert [alone["call_id"], third["call_id"]] == ["call_A-17", "again"]
    assert (fourth["content"], last) == ("Where is A-17?", None)
    assert (await activities_of(run)).count("memory.delete") == 5
    await replay(await run.fetch_history())


async def test_a_workflow_that_popped_by_the_view_alone_goes_on_as_it_began() -> None:
    await replay(WorkflowHistory.from_json("pop", BEFORE.read_text(encoding="utf-8")))


async def replay(history: WorkflowHistory) -> None:
    """Fails if the workflow would do something else today. It reaches no server."""
    plugin = MemoryPlugin(redis_url="redis://127.0.0.1:1", memories=REGISTRY)
    await Replayer(workflows=[Pop], plugins=[plugin]).replay_workflow(history)
