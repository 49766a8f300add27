"""Keys, projects and prefixes of any characters: each is one memory, reached by nobody else, listed as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from redis.asyncio import Redis

from durable_memory import MemoryClient
from tests.integration.cases.conftest import unique

KEYS = (
    *("user:al", "user:alice", "user:alice2", "user:a_ice", "user:a%", "user:*", "user:42:*", "*", "?", "[a-z]"),
    *("a", "a{b}", "}{", "{}", "{a}b", "a/b", "a%2Fb", "..", "../x", "C:\\x", "a\\..\\b", "/etc", "%00", "a b"),
    *("my-doc.md#0", "Austin, TX", "a|b", '"q"', "it's", "`x`", "$where", "{{7*7}}", "''.__class__", "x\u2028y"),
    *("日本語", "🙂", "é", "a" * 256, "-", "--help", "null", "None", "0", "user:", ":", "::", "a:b:c"),
)


async def test_every_key_is_a_memory_of_its_own_and_is_listed_as_it_is(client: MemoryClient) -> None:
    memories = {key: client.memory("recent", key) for key in KEYS}
    await asyncio.gather(*(memory.append(f"for {key}") for key, memory in memories.items()))
    for key, memory in memories.items():
        assert [message.text for message in (await memory.read()).messages] == [f"for {key}"]
    assert sorted([memory.key async for memory in client.list_memories("recent")]) == sorted(KEYS)
    await memories["user:al"].clear(confirm=True)
    await memories["*"].clear(confirm=True)
    left = sorted(set(KEYS) - {"user:al", "*"})
    assert sorted([memory.key async for memory in client.list_memories("recent")]) == left
    for key in left:
        await memories[key].clear(confirm=True)
    assert [memory async for memory in client.list_memories("recent")] == []


async def test_one_key_in_two_resources_projects_and_prefixes_is_four_memories(redis_url: str, folder: Path) -> None:
    key, one, other = unique("key"), unique("one"), unique("other")
    places = [(one, "a:"), (other, "a:"), (one, "b:")]
    clients = [
        await MemoryClient.connect(redis_url, memories=[folder], project=project, prefix=prefix)
        for project, prefix in places
    ]
    memories = [*(client.memory("chat", key) for client in clients), clients[0].memory("small", key)]
    await asyncio.gather(*(memory.append(f"memory {number}") for number, memory in enumerate(memories)))
    for number, memory in enumerate(memories):
        assert [message.text for message in (await memory.read()).messages] == [f"memory {number}"]
    async with Redis.from_url(redis_url) as raw:
        ours = [
            name.decode() async for name in raw.scan_iter(match="*") if one.encode() in name or key.encode() in name
        ]
    assert ours
    assert all(name.startswith(("a:{", "b:{")) for name in ours)
    await asyncio.gather(*(client.close() for client in clients))


async def test_what_a_message_says_of_itself_moves_it_nowhere(client: MemoryClient) -> None:
    alice, bob = client.memory("chat", unique("alice")), client.memory("chat", unique("bob"))
    claims = {"namespace": bob.id.key, "key": bob.id.key, "project": "other", "user_id": "bob", "id": "1", "v": 99}
    message = {"role": "user", "content": "mine", "metadata": claims, "id": "1-1-1", "section": "system", "tokens": 0}
    await alice.append([message])
    [stored] = (await alice.read()).messages
    assert (stored.text, stored.metadata, stored.section) == ("mine", claims, "short_term")
    assert stored.tokens
    assert (await bob.read()).version == "absent"


async def test_appends_to_two_memories_at_once_never_cross(client: MemoryClient) -> None:
    memories = [client.memory("chat", unique(name)) for name in ("a", "b")]
    await asyncio.gather(*(memory.append(memory.id.key) for _ in range(50) for memory in memories))
    for memory in memories:
        assert [message.text for message in (await memory.read()).messages] == [memory.id.key] * 50
