"""A short form of flushing.type flushes and evicts by the policy that it names, and drops what goes."""

from __future__ import annotations

import pytest

from durable_memory import MemoryClient
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.types import Priority

GONE = {"simple_fifo": "abcde", "lru": "cdefg", "lfu": "cdefg", "priority": "bdfhj", "token_aware_lru": "cdefg"}
"""What a flush to half of ten messages drops after `a` was read twice and `b` once, every other of low priority."""


@pytest.mark.parametrize(
    ("type_", "kept"),
    [("message_count_based", [*range(1, 16), 10, 11, 12, 13, 14]), ("token_based", [*range(1, 21)])],
)
async def test_how_many_messages_drop_keeps_depends_on_what_the_flush_watches(type_: str, kept: list[int]) -> None:
    declared = {
        "resource": "memory",
        "id": "newest-20",
        "type": type_,
        "max_tokens": 100_000,
        "max_messages": 20,
        "flushing": {"type": "drop"},
        "persistence": {"type": "in_memory"},
    }
    async with await MemoryClient.connect(memories=Registry.from_resources([declared])) as client:
        memory = client.memory("newest-20", "key")
        found = list[int]()
        for number in range(20):
            await memory.append(f"message {number}")
            await memory.flush()  # as the background flush does: nothing, unless one is due
            found.append((await memory.stats()).messages["short_term"])
        assert found == kept
        await memory.append([f"message {number}" for number in range(20, 60)])
        texts = [message.text for message in (await memory.read()).messages]
        assert texts == [f"message {number}" for number in range(40, 60)]


@pytest.mark.parametrize("short", GONE)
async def test_a_flush_drops_by_the_policy_that_the_short_form_names(short: str) -> None:
    declared = {
        "resource": "memory",
        "id": "short",
        "type": "message_count_based",
        "max_messages": 10,
        "flushing": {"type": short, "keep_last": 0},
        "persistence": {"type": "in_memory"},
    }
    async with await MemoryClient.connect(memories=Registry.from_resources([declared])) as client:
        memory = client.memory("short", "key")
        bands: tuple[Priority, Priority] = ("normal", "low")
        ids = [
            (await memory.append({"role": "user", "content": text, "priority": bands[place % 2]})).ids[0]
            for place, text in enumerate("abcdefghij")
        ]
        await memory.read(ids=ids[:2])
        await memory.touch(ids[:1])
        flushed = await memory.flush()
        kept = "".join(message.text for message in (await memory.read()).messages)
    assert flushed.outcome == "dropped"
    assert sorted(set("abcdefghij") - set(kept)) == sorted(GONE[short])
