"""The usual append leaves in Redis, key by key, what the general one would have left."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from redis.asyncio import Redis

from durable_memory.memory.clock import ManualClock, SystemClock
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis import script_runner
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.scripts import Script, load_script
from durable_memory.memory.stores.values import Batch, Entry, FlushOptions
from durable_memory.testing.contracts.builders import divided
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.any_appends import any_entries, any_limits

STEPS = 60
HASHES = ("meta", "msg", "groups", "batch", "ops")
SECTIONS = ("notes", "bookings")

WAY_IN = b"local usual = incarnation and intact"
FIRST_WRITE = b"if usual and redis.call('HSETNX'"


def scripts(prefix: str, *, usual: bool) -> Callable[[str], Script]:
    """Loads scripts that read the time where the test puts it, and count usual appends or know none."""

    def load(name: str) -> Script:
        source = load_script(name).source
        source = source.replace(b"redis.call('TIME')", f"redis.call('MGET', '{prefix}s', '{prefix}us')".encode())
        source = source.replace(WAY_IN, WAY_IN if usual else WAY_IN.replace(b"= ", b"= false and "))
        counted = f"if usual and redis.call('INCR', '{prefix}usual') and redis.call('HSETNX'".encode()
        source = source.replace(FIRST_WRITE, counted)
        sha = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
        return Script(source, sha, b"$7\r\nEVALSHA\r\n$40\r\n" + sha + b"\r\n")

    return load


def limits_with_shares(dice: random.Random) -> Limits:
    """Parts of the budget that are met often."""
    made = divided(
        max_tokens=300,
        shares={"system": 30, "long_term": 50, "notes": 60, "bookings": 60, "short_term": 100},
        policy=dice.choice(get_args(PolicyName)),
        max_messages=dice.choice([None, 12]),
        ttl_ms=dice.choice([None, 60_000]),
        overflow_messages=dice.choice([None, 30]),
    )
    return dice.choice([made, replace(made, summarize=False, summary_tokens=0, overflow_tokens=None)])


def placed(batch: list[Entry], section: str) -> list[Entry]:
    """Puts the plain messages of a batch into a section."""
    return [
        entry
        if entry.section == "system" or entry.opens or entry.answers is not None
        else replace(entry, section=section)
        for entry in batch
    ]


async def kept(raw: Redis, prefix: str, driven: Driven) -> dict[str, object]:
    """All that Redis holds of a memory, and when it ends; the incarnation, which is random, as a star.

    But for the end of a lease, which is as long as it says, by the server's own clock.
    """
    names = RedisKeys(prefix).memory(driven.memory, *SECTIONS).names
    short = [name.decode().partition("}:")[2] for name in names]
    async with raw.pipeline(transaction=False) as pipe:
        for name, what in zip(names, short, strict=True):
            if what == "lease":
                pipe.get(name)
            elif what in HASHES:
                pipe.hgetall(name)
            else:
                pipe.zrange(name, 0, -1, withscores=True)
            pipe.pexpiretime(name.decode())
        found = await pipe.execute()
    held = dict(zip(short, zip(found[::2], found[1::2], strict=True), strict=True))
    held["lease"] = held["lease"][0]
    incarnation = held["meta"][0].get(b"life", b"")[:16]
    star = {
        what: {field: value.replace(incarnation, b"*") for field, value in held[what][0].items()}
        for what in HASHES
        if incarnation
    }
    return {**held, **{what: (fields, held[what][1]) for what, fields in star.items()}}


async def answered(driven: Driven, number: int, batch: list[Entry]) -> object:
    """What an append answers, but for the incarnation."""
    try:
        appended = await driven.append(*batch, op=f"append {number}")
    except MemoryFault as error:
        return error.type, error.message
    ids = tuple(one.partition("-")[2] for one in appended.ids)
    return replace(appended, ids=ids, version=appended.version.partition(":")[2])


async def begun(driven: Driven, number: int) -> object:
    """What the begin of a flush answers, but for the incarnation and how long another lease lasts; its batch stands."""
    answer = await driven.store.begin(
        driven.memory,
        f"flusher/{number}",
        driven.limits,
        FlushOptions(force=True),
        batch_id=f"{number:032x}",
        attempt_ends_ms=driven.clock.now_ms() + 1_000,
    )
    return replace(answer, incarnation="*") if isinstance(answer, Batch) else replace(answer, retry_after_ms=0)


def test_the_scripts_have_what_is_changed_here() -> None:
    source = load_script("append").source
    assert (source.count(WAY_IN), source.count(FIRST_WRITE)) == (1, 1)


@pytest.mark.parametrize("made", [any_limits, limits_with_shares])
@pytest.mark.parametrize("seed", range(6))
async def test_a_usual_append_is_the_general_one_in_all_that_it_answers_and_leaves(
    backend: Backend,
    raw: Redis,
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    made: Callable[[random.Random], Limits],
) -> None:
    # An hour ahead, so that nothing ends by itself meanwhile.
    dice, clock = random.Random(seed), ManualClock(SystemClock().now_ms() + 3_600_000)
    limits = made(dice)
    ways = {usual: Driven(backend.store, limits, clock=clock) for usual in (True, False)}
    await raw.set(f"{prefix}usual", 0)
    for number in range(STEPS):
        clock.advance(ms=dice.choice([0, 1, 40, 400]))
        seconds, ms = divmod(clock.now_ms(), 1_000)
        await raw.mset({f"{prefix}s": seconds, f"{prefix}us": ms * 1_000})
        batch = any_entries(dice, number)
        if limits.shares:
            batch = placed(batch, dice.choice(["short_term", *SECTIONS]))
        flushes, touches, other = dice.random() < 0.1, dice.random() < 0.3, dice.random() < 0.05
        begins = dice.random() < 0.1
        if other:
            limits = made(dice)
        left = []
        for usual, driven in ways.items():
            monkeypatch.setattr(script_runner, "load_script", scripts(prefix, usual=usual))
            if flushes:
                await driven.drop(op=f"flush {number}")
            shown = (await driven.read()).entries if touches else ()
            await driven.touch(*(entry.id for entry in shown[:2]))
            batched = await begun(driven, number) if begins else None
            answer = await answered(driven.under(limits), number, batch)
            ways[usual] = driven.under(limits)
            left.append((batched, answer, await kept(raw, prefix, driven)))
        assert left[0] == left[1]
    assert int(await raw.get(f"{prefix}usual") or 0) > STEPS / 20
