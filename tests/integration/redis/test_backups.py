"""The lifetimes of backups in Redis: those of their keys, of their list, and of what a restore brings back."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.stores.port import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.stores.values import BACKUP_LIFETIME_MS
from durable_memory.testing.backups import fill
from durable_memory.testing.builders import HOUR_MS, divided, summarising, user
from durable_memory.testing.driven import Driven
from tests.integration.redis.test_damage import name_of
from tests.integration.redis.test_expiry import OUTLIVE, expiries


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
