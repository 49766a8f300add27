"""The usual append and the usual read take a short way through their scripts, and nobody can tell by the result."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

import pytest
from redis.asyncio import Redis

from durable_memory.memory.clock import SystemClock
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.in_memory.store import open_in_memory
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import summarising, texts_of, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.any_appends import any_entries, any_limits
from tests.integration.redis.filled import name_of


async def outcome(driven: Driven, batch: list[Entry], *, accessed: int | None, flushes: bool) -> object:
    """All that can be seen of an access, a flush and an append, and of the memory after them, but for ids."""
    shown_before = (await driven.read()).entries
    if accessed is not None and shown_before:
        await driven.touch(shown_before[accessed % len(shown_before)].id)
    if flushes:
        await driven.drop()
    try:
        appended = await driven.append(*batch)
        said: object = replace(appended, ids=(), version=appended.version.split(":")[1])
    except MemoryFault as error:
        said = (error.type, error.message)
    view, stats = await driven.state()
    shown = texts_of(view), view.tokens, view.omitted_messages, view.omitted_tokens, view.flush_due
    newest = await driven.read(limit=4)
    return said, shown, texts_of(newest), newest.tokens, stats.tokens, stats.messages, stats.omitted


@pytest.mark.parametrize("seed", range(20))
async def test_both_ways_give_what_the_other_store_gives(backend: Backend, seed: int) -> None:
    dice = random.Random(seed)
    in_redis = Driven(backend.store, any_limits(dice))
    in_memory = replace(in_redis, store=open_in_memory(SystemClock()).store)
    for number in range(60):
        batch = any_entries(dice, number)
        accessed = dice.choice([None, dice.randrange(9)])
        # What a flush takes under token_aware_lru depends on the clock, and each store asks its own.
        flushes = dice.random() < 0.1 and in_redis.limits.policy != "token_aware_lru"
        by_redis = await outcome(in_redis, batch, accessed=accessed, flushes=flushes)
        assert by_redis == await outcome(in_memory, batch, accessed=accessed, flushes=flushes)
        if dice.random() < 0.05:
            in_redis = in_redis.under(any_limits(dice))
            in_memory = in_memory.under(in_redis.limits)


@pytest.mark.parametrize("policy", sorted(set(get_args(PolicyName)) - {"fifo"}))
async def test_a_pinned_group_does_not_stand_where_every_usual_append_would_meet_it_first(
    backend: Backend, raw: Redis, prefix: str, policy: str
) -> None:
    driven = Driven(backend.store, summarising(policy=policy))
    ids = await driven.append_each(*(user(text) for text in "abc"))
    order = name_of(prefix, driven, "evict:short_term")
    await driven.pin(ids[0])
    await driven.touch(*ids)
    assert await raw.zrange(order, 0, -1) == [b"2", b"3"]
    await driven.unpin(ids[0])
    assert sorted(await raw.zrange(order, 0, -1)) == [b"1", b"2", b"3"]
