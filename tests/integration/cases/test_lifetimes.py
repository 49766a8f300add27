"""Memories that end by themselves: gone whole, out of every listing, and what comes after them is new."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory import MemoryClient, Message
from durable_memory.memory.errors import MemoryConflict
from durable_memory.memory.memory import Memory
from tests.integration.cases.conftest import OpenMemory, unique

LIFE_SECONDS = 3
"""Long enough that a machine which stands still for two seconds ends no memory that is kept alive."""


async def is_gone(memory: Memory) -> bool:
    return (await memory.read()).version == "absent"


async def test_reads_do_not_keep_a_memory_alive_and_writes_do(open_memory: OpenMemory) -> None:
    read, written = open_memory("brief"), open_memory("brief")
    await asyncio.gather(read.append("one"), written.append("one"))
    rounds = 0
    while not await is_gone(read):
        ids = [message.id or "" for message in (await read.read()).messages]
        await asyncio.gather(read.touch(ids), read.stats(), read.health(), read.flush(), written.append("more"))
        rounds += 1
        await asyncio.sleep(LIFE_SECONDS / 10)
    assert len((await written.read()).messages) == 1 + rounds


async def test_reads_keep_a_memory_alive_where_the_resource_says_so_and_looking_after_it_does_not(
    open_memory: OpenMemory,
) -> None:
    read, left = open_memory("visited"), open_memory("visited")
    await asyncio.gather(read.append("one"), left.append("one"))
    while (await left.stats()).exists:  # no read, which would keep it alive
        await asyncio.gather(read.read(limit=0), left.health(), left.flush())
        await asyncio.sleep(LIFE_SECONDS / 10)
    assert [message.text for message in (await read.read()).messages] == ["one"]
    assert await is_gone(left)


async def test_listing_while_memories_end_lists_the_living_once(client: MemoryClient) -> None:
    prefix = unique("brief")
    memories = [client.memory("brief", f"{prefix}-{number}") for number in range(60)]
    for memory in memories:
        await memory.append("one")
    listings: list[list[str]] = []
    async with asyncio.timeout(60):
        while not listings or listings[-1]:
            listed = [memory.key async for memory in client.list_memories("brief")]
            listings.append([key for key in listed if key.startswith(prefix)])
    assert set(listings[0]) <= {memory.id.key for memory in memories}
    assert len(listings) > 1
    assert all(len(set(listing)) == len(listing) for listing in listings)


async def test_what_was_known_of_an_ended_memory_fits_nothing_of_the_next_one(open_memory: OpenMemory) -> None:
    memory = open_memory("brief")
    old = await memory.append(["one", Message.assistant("two")], operation_id="first")
    version = (await memory.read()).version
    await asyncio.sleep(LIFE_SECONDS + 0.1)
    assert await is_gone(memory)
    repeated = await memory.append(["one", Message.assistant("two")], operation_id="first")
    assert (repeated.already_applied, repeated.version) == (True, "absent")
    await memory.append("new")
    assert await memory.touch(old.ids) == ()
    assert set((await memory.delete(old.ids)).not_found) == set(old.ids)
    with pytest.raises(MemoryConflict):
        await memory.write("over", if_version=version)
    assert [message.text for message in (await memory.read()).messages] == ["new"]
