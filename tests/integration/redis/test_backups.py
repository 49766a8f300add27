"""The lifetimes of backups in Redis: those of their keys, of their list, and of what a restore brings back."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged, MemoryInvalid
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.values import BACKUP_LIFETIME_MS
from durable_memory.testing.contracts.backups import fill
from durable_memory.testing.contracts.builders import HOUR_MS, call, divided, result, summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.expiries import OUTLIVE, expiries
from tests.integration.redis.filled import name_of


def list_of(prefix: str, driven: Driven) -> bytes:
    return name_of(prefix, driven, "meta").removesuffix(b"meta") + b"backup:list"


async def end(raw: Redis, prefix: str, driven: Driven, backup: str | None) -> None:
    """Moves a backup in its list into the past; its keys, which the server removes, are left."""
    assert backup is not None
    entries = await raw.hgetall(list_of(prefix, driven))
    created, ends, messages = map(int, entries[backup.encode()].split())
    moved = f"{created - BACKUP_LIFETIME_MS} {ends - BACKUP_LIFETIME_MS} {messages}"
    await raw.hset(list_of(prefix, driven), backup, moved)


async def test_a_backup_that_has_ended_is_neither_listed_nor_restored_and_the_next_forgets_it(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = Driven(backend.store, summarising())
    kept = []
    for text in "abc":
        await driven.append(user(text))
        kept.append((await driven.clear(backup=True)).backup_id)
    await end(raw, prefix, driven, kept[1])
    assert [backup.id for backup in (await driven.stats()).backups] == [kept[0], kept[2]]
    with pytest.raises(MemoryInvalid, match="backup_id"):
        await driven.restore(kept[1])
    await driven.restore(kept[0])
    kept.append((await driven.clear(backup=True)).backup_id)
    listed = await raw.hgetall(list_of(prefix, driven))
    assert set(listed) == {str(kept[one]).encode() for one in (0, 2, 3)}


@pytest.mark.parametrize("before", [None, HOUR_MS])
@pytest.mark.parametrize("after", [None, 2 * HOUR_MS])
async def test_a_backup_and_what_is_restored_of_it_end_as_declared_for_each(
    backend: Backend, raw: Redis, prefix: str, before: int | None, after: int | None
) -> None:
    driven = Driven(backend.store, divided(policy="lru", ttl_ms=before))
    await fill(driven)
    await driven.append(user("n", section="notes"), user("b", section="bookings"))
    held = set(await expiries(raw, prefix, driven)) - OUTLIVE - {"batch"}
    backup = (await driven.clear(backup=True)).backup_id
    now = (await raw.time())[0] * 1000
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    copies = [key async for key in raw.scan_iter(match=place + b"backup:*", count=1000)]
    assert len(copies) == len(held) + 1
    assert all([abs(await raw.pexpiretime(key) - now - BACKUP_LIFETIME_MS) < 60_000 for key in copies])
    restored = driven.under(divided(policy="lru", ttl_ms=after))
    await restored.restore(backup)
    ends = {short: at for short, at in (await expiries(raw, prefix, restored)).items() if short not in OUTLIVE}
    assert set(ends) == held
    (one_end,) = set(ends.values())
    expires_at = (await restored.stats()).expires_at
    assert one_end == (-1 if after is None else round((expires_at.timestamp() if expires_at else 0) * 1000))


async def test_a_process_that_knows_none_of_its_sections_restores_a_backup_whole(
    backend: Backend, prefix: str, redis_url: str
) -> None:
    driven = Driven(backend.store, divided())
    await driven.append(user("talk"), user("booked", section="bookings"), user("noted", section="notes"))
    backup = (await driven.clear(backup=True)).backup_id
    stranger = await connect_redis(redis_url, prefix=prefix)
    try:
        await Driven(stranger.store, summarising(), driven.memory).restore(backup)
    finally:
        await stranger.store.close()
    assert await driven.texts() == ["noted", "booked", "talk"]
    await driven.check_counters()


async def filled(backend: Backend) -> Driven:
    """A memory with something in each of its keys, of sections of its own too."""
    driven = Driven(backend.store, divided(policy="lru"))
    await fill(driven)
    await driven.append(call("left", "left"))
    # Abandoned, it is evicted like any other.
    await driven.under(divided(policy="lru", open_group_ms=0)).append(*(user(text) for text in "opqrst"))
    await driven.append(user("n", 5, section="notes", pinned=True), user("b", 5, section="bookings"))
    await driven.append(call("open", "open"))
    return driven


async def not_restored(driven: Driven, backup: str | None, error: type[Exception] = MemoryDamaged) -> str:
    """Shows that a restore is refused and changes nothing; returns the text of the error."""
    await driven.append(user("live"))
    before = await driven.state()
    with pytest.raises(error) as refused:
        await driven.restore(backup, op="undo")
    assert await driven.state() == before
    await driven.append(user("more"))
    assert (await driven.texts())[-2:] == ["live", "more"]
    return str(refused.value)


KEPT_KEYS = [
    "msg", "order:system", "order:long_term", "order:short_term", "pinned", "groups", "overflow",
    "order:notes", "order:bookings",
]  # fmt: skip


@pytest.mark.parametrize("lost", KEPT_KEYS)
async def test_a_backup_that_lost_a_key_is_damaged_and_replaces_nothing(
    backend: Backend, raw: Redis, prefix: str, lost: str
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    assert await raw.delete(copy_of(prefix, driven, backup, lost)) == 1
    text = await not_restored(driven, backup)
    assert "this backup is not whole" in text
    assert "clear it" not in text


@pytest.mark.parametrize("changed", [*KEPT_KEYS, "meta", "departed", "evict:short_term", "evict:notes"])
async def test_a_backup_with_a_foreign_key_is_damaged_and_replaces_nothing(
    backend: Backend, raw: Redis, prefix: str, changed: str
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    await raw.set(copy_of(prefix, driven, backup, changed), "foreign", keepttl=True)
    assert "this backup is not whole" in await not_restored(driven, backup)


@pytest.mark.parametrize("name", [name for name in KEPT_KEYS if name != "groups"])
@pytest.mark.parametrize("more", [True, False])
async def test_a_backup_with_other_counts_than_it_says_is_damaged_and_replaces_nothing(
    backend: Backend, raw: Redis, prefix: str, name: str, *, more: bool
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    copy = copy_of(prefix, driven, backup, name)
    if name == "msg":
        await (raw.hset(copy, "999999", "foreign") if more else raw.hdel(copy, (await raw.hkeys(copy))[0]))
    else:
        await (raw.zadd(copy, {"999999": 1}) if more else raw.zpopmin(copy))
    await not_restored(driven, backup)


@pytest.mark.parametrize("field", ["life", "counters"])
@pytest.mark.parametrize("value", [None, b"x", b"\xff" * 8 * 21])
async def test_a_backup_whose_head_says_nothing_is_damaged_and_replaces_nothing(
    backend: Backend, raw: Redis, prefix: str, field: str, value: bytes | None
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    meta = copy_of(prefix, driven, backup, "meta")
    if value is None:
        await raw.hdel(meta, field)
    else:
        await raw.hset(meta, field, value if field == "counters" else value[:20])
    await not_restored(driven, backup)


async def test_a_backup_of_a_later_version_waits_for_a_worker_that_knows_it(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    await raw.hset(copy_of(prefix, driven, backup, "meta"), "schema", "2")
    await not_restored(driven, backup, MemoryContractTooNew)


@pytest.mark.parametrize("lost", ["departed", "evict:short_term", "evict:bookings"])
async def test_a_backup_without_what_is_made_anew_is_restored(
    backend: Backend, raw: Redis, prefix: str, lost: str
) -> None:
    driven = await filled(backend)
    before = await driven.texts()
    backup = (await driven.clear(backup=True)).backup_id
    assert await raw.delete(copy_of(prefix, driven, backup, lost)) == 1
    await driven.restore(backup)
    assert await driven.texts() == before
    answer = await driven.append(result("came", "open"), result("late", "left"), user("more"))
    assert answer.late == 1
    await driven.check_counters()


async def test_a_backup_of_many_messages_is_looked_at_to_its_end(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = Driven(backend.store, summarising(max_tokens=None, max_messages=20_000, due_tokens=None))
    for number in range(6):
        await driven.append(*(user(f"{number}-{one}") for one in range(500)), call(f"c{number}", f"{number}"))
    backup = (await driven.clear(backup=True)).backup_id
    await driven.restore(backup)
    assert (await driven.read()).tokens == 30_000
    groups = copy_of(prefix, driven, backup, "groups")
    assert await raw.hdel(groups, "m:3006") == 1
    await not_restored(driven, backup)


def copy_of(prefix: str, driven: Driven, backup: str | None, name: str) -> bytes:
    return name_of(prefix, driven, "meta").removesuffix(b"meta") + f"backup:{backup}:{name}".encode()
