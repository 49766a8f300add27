"""Where the driver keeps its keys: one slot for each memory, nothing outside the prefix, nobody's key twice."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from redis.crc import key_slot

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.testing.contracts.builders import call, result, summarising, system, user
from durable_memory.testing.contracts.driven import Driven

ODD_IDS = ["a", "a{b}", "}{", "{}", "{", "}", "a/b", "a:b", "100%", "😀", "東京", "*", " x ", "a\\b"]


@pytest.mark.parametrize("odd", ODD_IDS)
def test_all_keys_of_a_memory_share_one_slot_whatever_its_ids_contain(odd: str) -> None:
    for memory in (MemoryId(odd, "desk", "k"), MemoryId("p", odd, "k"), MemoryId("p", "desk", odd)):
        names = RedisKeys("dm:").memory(memory).names
        assert len(set(names)) == len(names)
        assert len({key_slot(name) for name in names}) == 1


@pytest.mark.parametrize("odd", ODD_IDS)
def test_all_keys_of_a_project_share_one_slot_whatever_its_id_contains(odd: str) -> None:
    keys = RedisKeys("dm:")
    names = {*keys.index(odd, odd).names, *keys.index(odd, "desk").names, *keys.bindings(odd).names}
    names |= {*keys.resources(odd).names, *keys.start(odd, "00").names}
    assert len({key_slot(name) for name in names}) == 1


def test_two_identities_never_share_a_key() -> None:
    keys = RedisKeys("dm:")
    parts = ["a", "b", "a/b", "b/a", "a%2Fb", "a:b", "{a}"]
    identities = [MemoryId(p, r, k) for p in parts for r in parts for k in parts]
    names = [name for identity in identities for name in keys.memory(identity).names]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("prefix", ["{dm}:", "dm{", "}"])
def test_a_prefix_with_braces_is_refused(prefix: str) -> None:
    with pytest.raises(MemoryInvalid, match="braces"):
        RedisKeys(prefix)


async def test_every_key_that_a_memory_leaves_behind_starts_with_the_prefix(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    before = {key async for key in raw.scan_iter(count=1000) if not key.startswith(prefix.encode())}
    for policy in ("fifo", "lru"):
        driven = Driven(backend.store, summarising(ttl_ms=60_000, policy=policy), MemoryId("p{}", "r", f"}}{{{policy}"))
        await driven.append(system("s"), call("c", "one", "two"), result("r", "one"), user("pinned", pinned=True))
        for number in range(6):
            await driven.append(user(f"m{number}"))
        await backend.index.register(driven.memory, Owner("ns", "wf", "run"))
        batch = await driven.batch()
        await driven.summarise(batch)
    after = {key async for key in raw.scan_iter(count=1000) if not key.startswith(prefix.encode())}
    assert after == before
