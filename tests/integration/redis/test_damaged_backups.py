"""A backup stands in keys of its own that end by themselves; what is damaged among them is refused, and goes."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from durable_memory.memory.errors import MemoryDamaged, MemoryInvalid
from durable_memory.memory.stores.backend import Backend
from durable_memory.testing.contracts.builders import divided, summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.filled import IMPOSSIBLE_SECTIONS, filled, name_of


@pytest.mark.parametrize("sections", IMPOSSIBLE_SECTIONS)
async def test_sections_of_impossible_names_in_a_backup_do_not_hold_up_its_end(
    backend: Backend, raw: Redis, prefix: str, sections: bytes
) -> None:
    driven = await filled(backend)
    kept = (await driven.clear(backup=True)).backup_id
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    await raw.hset(place + f"backup:{kept}:meta".encode(), "sections", sections)
    async with asyncio.timeout(30):
        with pytest.raises(MemoryDamaged):
            await driven.restore(kept)
        assert (await driven.erase()).backups == 1
    left = {key async for key in raw.scan_iter(match=place + b"*", count=1000)}
    assert left == {place + b"ops", place + b"opx"}


@pytest.mark.parametrize("field", [b"no id", b"\xff" * 16, b"meta", b"0" * 15])
async def test_what_is_no_backup_in_the_list_of_backups_goes_with_it(
    backend: Backend, raw: Redis, prefix: str, field: bytes
) -> None:
    driven = await filled(backend)
    kept = (await driven.clear(backup=True)).backup_id
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    await raw.hset(place + b"backup:list", field, b"1 9000000000000000 1")
    assert [one.id for one in (await driven.stats()).backups] == [kept]
    async with asyncio.timeout(30):
        assert (await driven.erase()).backups == 1
    assert await raw.exists(place + b"backup:list") == 0


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("entry", [b"foreign", b"1 1000000000000000 and more", None])
async def test_a_clear_mends_the_list_of_backups(
    backend: Backend, raw: Redis, prefix: str, entry: bytes | None, *, backup: bool
) -> None:
    driven = await filled(backend)
    kept = (await driven.clear(backup=True)).backup_id
    await driven.append(user("new"))
    listed = name_of(prefix, driven, "meta").removesuffix(b"meta") + b"backup:list"
    if entry is None:
        await raw.delete(listed)
        await raw.set(listed, "foreign")
    else:
        await raw.hset(listed, "0" * 16, entry)
    cleared = await driven.clear(backup=backup)
    left = {kept} if entry is not None else set()
    assert {one.id for one in (await driven.stats()).backups} == left | ({cleared.backup_id} if backup else set())
    assert await raw.hexists(listed, "0" * 16) == 0
    await driven.append(user("newer"))
    newest = (await driven.clear(backup=True)).backup_id
    await driven.restore(newest)
    assert await driven.texts() == ["newer"]


async def test_a_damaged_memory_is_not_cleared_where_a_backup_is_asked_for(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = await filled(backend)
    ops = name_of(prefix, driven, "ops")
    await raw.delete(ops)
    await raw.sadd(ops, "foreign")
    with pytest.raises(MemoryDamaged):
        await driven.clear(backup=True)
    assert len((await driven.read()).entries) > 0


async def test_a_backup_is_copied_keys_that_end_by_themselves(backend: Backend, raw: Redis, prefix: str) -> None:
    driven = await filled(backend)
    before = {name: await raw.hgetall(name_of(prefix, driven, name)) for name in ("msg", "groups")}
    order = await raw.zrange(name_of(prefix, driven, "order:short_term"), 0, -1, withscores=True)
    backup = (await driven.clear(backup=True)).backup_id
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    copies = {key async for key in raw.scan_iter(match=place + b"backup:*", count=1000)}
    assert place + b"backup:list" in copies
    for name, held in before.items():
        assert await raw.hgetall(place + f"backup:{backup}:{name}".encode()) == held != {}
    assert await raw.zrange(place + f"backup:{backup}:order:short_term".encode(), 0, -1, withscores=True) == order
    week_ms = 7 * 24 * 3600 * 1000
    assert all([week_ms - 60_000 < await raw.pttl(key) <= week_ms for key in copies])
    left = {key async for key in raw.scan_iter(match=place + b"*", count=1000)} - copies
    assert left == {place + b"ops", place + b"opx"}


async def test_a_backup_whose_keys_are_lost_is_refused_and_changes_nothing(
    backend: Backend, raw: Redis, prefix: str
) -> None:
    driven = await filled(backend)
    backup = (await driven.clear(backup=True)).backup_id
    await driven.append(user("new"))
    place = name_of(prefix, driven, "meta").removesuffix(b"meta")
    await raw.delete(place + f"backup:{backup}:meta".encode())
    with pytest.raises(MemoryInvalid, match="backup_id"):
        await driven.restore(backup)
    assert await driven.texts() == ["new"]


async def test_user_defined_sections_come_back_too(backend: Backend) -> None:
    driven = Driven(backend.store, divided())
    await driven.append(user("talk"), user("booked", section="bookings"))
    before = [(entry.section, entry.payload) for entry in (await driven.read()).entries]
    backup = (await driven.clear(backup=True)).backup_id
    # A caller whose declaration names no such section asks for its keys.
    await driven.under(summarising()).restore(backup)
    assert [(entry.section, entry.payload) for entry in (await driven.read()).entries] == before
